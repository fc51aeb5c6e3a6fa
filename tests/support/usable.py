"""What keeps people from using a page, as far as a program can tell."""

from __future__ import annotations

from playwright.sync_api import Page

NAMELESS = """() => [...document.querySelectorAll('button, a, input:not([type=hidden]), select, [role=img]')]
  .filter((one) => one.checkVisibility() && !(one.getAttribute('aria-label') || one.innerText.trim() || one.title
    || [...(one.labels ?? [])].some((label) => label.textContent.trim()) || one.querySelector('b, svg[aria-label]')))
  .map((one) => one.outerHTML.slice(0, 120))"""
TWICE = """() => [...document.querySelectorAll('[id]')].map((one) => one.id)
  .filter((id, place, all) => all.indexOf(id) !== place)"""
PALE = """() => {
  const light = (text) => {
    const [r, g, b] = text.match(/[\\d.]+/g).slice(0, 3).map((one) => one / 255)
      .map((one) => (one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (one) => {
    for (; one; one = one.parentElement) {
      const found = getComputedStyle(one).backgroundColor;
      if (found.startsWith('rgb(')) return found;
    }
    return 'rgb(255, 255, 255)';
  };
  const pale = (one) => {
    const [text, behind] = [light(getComputedStyle(one).color), light(ground(one))].sort((a, b) => b - a);
    return (text + 0.05) / (behind + 0.05) < 4.5;
  };
  return [...document.querySelectorAll('main *')]
    .filter((one) => one.checkVisibility())
    .filter((one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
    .filter((one) => !one.closest('.timeline, mark, option')).filter(pale).map((one) => one.outerHTML.slice(0, 120));
}"""
"""Text with less contrast than WCAG AA asks for."""


def flaws(page: Page) -> list[str]:
    """Beginnings of elements that have no name, an id that is there twice, or pale text."""
    return [flaw for script in (NAMELESS, TWICE, PALE) for flaw in page.evaluate(script)]
