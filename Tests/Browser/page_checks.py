"""What is true of every page (accounts §2.4): structure, names, contrast, no sideways scrolling, axe-core's rules."""

import functools
import importlib.util
import pathlib

STRUCTURE = """
const faults = [];
const expect = (holds, fault) => { if (!holds) faults.push(fault); };
const count = selector => document.querySelectorAll(selector).length;
expect(document.documentElement.lang === arguments[0], `lang is ${document.documentElement.lang}`);
expect(['ltr', 'rtl'].includes(document.documentElement.dir), 'no dir');
expect(document.compatMode === 'CSS1Compat', 'quirks mode');
expect(document.title.trim() !== '', 'no title');
expect(count('h1') === 1 && count('main h1') === 1, `${count('h1')} h1`);
expect(count('main') === 1, `${count('main')} main`);
expect(count('body > header') === 1, `${count('body > header')} header`);
expect(count('script, style, [style]') === 0, 'script or style inside the page');
const ids = [...document.querySelectorAll('[id]')].map(element => element.id);
expect(new Set(ids).size === ids.length, 'an id stands there twice');
for (const element of document.querySelectorAll('[aria-describedby]'))
  expect(document.getElementById(element.getAttribute('aria-describedby')), 'described by nothing');
for (const input of document.querySelectorAll('input:not([type=hidden])'))
  expect(input.labels.length === 1 && input.labels[0].innerText.trim(), `${input.name} has no label`);
for (const alert of document.querySelectorAll('[role=alert]'))
  expect(alert.innerText.trim() !== '', 'an empty alert');
return faults;
"""

# WCAG 2.2: relative luminance and contrast ratio; colors with alpha are laid over what is behind them.
CONTRAST = """
const parse = color => {
  const numbers = color.match(/[\\d.]+/g).map(Number);
  return {rgb: numbers.slice(0, 3), alpha: numbers.length > 3 ? numbers[3] : 1};
};
const over = (top, bottom) => top.rgb.map((value, index) => value * top.alpha + bottom[index] * (1 - top.alpha));
const behind = element => {
  if (!element) return matchMedia('(prefers-color-scheme: dark)').matches ? [0, 0, 0] : [255, 255, 255];
  const color = parse(getComputedStyle(element).backgroundColor);
  return color.alpha === 1 ? color.rgb : over(color, behind(element.parentElement));
};
const luminance = rgb => {
  const [r, g, b] = rgb.map(value => value / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const ratio = (a, b) => {
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
};
const faults = [];
let looked = 0;
const look = (element, color, text) => {
  looked += 1;
  const ground = behind(element);
  const value = ratio(over(parse(color), ground), ground);
  if (value < 4.5) faults.push(`contrast ${value.toFixed(2)}: ${text}`);
};
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const text = walker.currentNode.data.trim(), element = walker.currentNode.parentElement;
  if (text && element.checkVisibility()) look(element, getComputedStyle(element).color, text);
}
for (const input of document.querySelectorAll('input:not([type=hidden])'))
  look(input, getComputedStyle(input).color, `the field ${input.name}`);
// The edge of a control, or its ground, against what is around it (WCAG 2.2, 1.4.11).
for (const control of document.querySelectorAll('input:not([type=hidden]), .button')) {
  const style = getComputedStyle(control), around = behind(control.parentElement);
  const edge = parse(style.borderTopColor);
  const value = Math.max(ratio(behind(control), around), ratio(over(edge, around), around));
  if (value < 3) faults.push(`contrast ${value.toFixed(2)}: the edge of ${control.innerText || control.name}`);
}
if (!looked) faults.push('no text');
return faults;
"""

SIDEWAYS = """
const root = document.documentElement;
const wide = [...document.body.querySelectorAll('*')].filter(element => {
  const box = element.getBoundingClientRect();
  return box.width && (box.right > root.clientWidth + 0.5 || box.left < -0.5);
});
const faults = wide.map(element => `${element.tagName} ${element.className} sticks out`);
for (const text of document.querySelectorAll('svg text')) {
  const box = text.parentElement.querySelector('rect').getBoundingClientRect();
  if (text.getBoundingClientRect().right > box.right) faults.push(`${text.textContent} sticks out of its box`);
}
if (root.scrollWidth > root.clientWidth) faults.push('scrolls sideways');
return faults;
"""

# Fingers need 44 pixels (WCAG 2.2, 2.5.5).
TARGETS = """
return [...document.querySelectorAll('a, button, input:not([type=hidden])')].filter(control => {
  const box = control.getBoundingClientRect();
  return box.width < 44 || box.height < 44;
}).map(control => `${control.innerText || control.name} is too small to hit`);
"""

# The rules of WCAG 2.2 A and AA, and what axe-core calls best practice; of these, those that look at colors.
EVERYTHING = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
COLORS = ["color-contrast", "link-in-text-block"]

# Where script is off no timer runs; axe-core only waits its turn with them. It need not fetch style sheets: there is one, of this
# server.
AXE = """
const [runOnly, done] = arguments;
window.setTimeout = (task, delay, ...values) => { Promise.resolve().then(() => task(...values)); return 0; };
axe.run(document, {preload: false, runOnly, resultTypes: ['violations']}).then(
  results => done(results.violations.flatMap(rule => rule.nodes.map(
    node => `${rule.id} (${rule.help}): ${node.target.join(' ')} ${node.failureSummary}`))),
  error => done([`axe-core failed: ${error}`]));
"""


@functools.cache
def axe_core():
    """axe-core itself, which a package carries whose Python code nobody here needs."""
    [folder] = importlib.util.find_spec("axe_playwright_python").submodule_search_locations
    return (pathlib.Path(folder) / "axe.min.js").read_text(encoding="utf-8")


def faults(browser, language, widths):
    """What is wrong with the page that the browser shows, in words."""
    run = browser.driver.execute_script
    found = run(STRUCTURE, language) + unnamed(browser)
    for width in widths:
        browser.size(width)
        found += [f"{fault} at {width} px" for fault in run(SIDEWAYS) + run(TARGETS)]
        for scheme in ("light", "dark"):
            browser.color(scheme)
            found += [f"{fault} ({scheme}, {width} px)" for fault in run(CONTRAST)]
            # Its rules ask for the width only of what is hidden or laid out anew, and for the scheme only of colors.
            if width in (widths[0], widths[-1]):
                rules = EVERYTHING if scheme == "light" else COLORS
                found += [f"{fault} ({scheme}, {width} px)" for fault in violations(browser, rules)]
    browser.color("light")
    return found


def violations(browser, rules=EVERYTHING):
    """What axe-core finds on the page that the browser shows, by rules or sets of rules."""
    if not browser.driver.execute_script("return typeof axe === 'object'"):
        browser.driver.execute_script(axe_core())
    return browser.driver.execute_async_script(AXE, rules)


def unnamed(browser):
    """What a screen reader has no words for, from the tree it reads."""
    nodes = browser.tell("Accessibility.getFullAXTree")["nodes"]
    said = {"button", "link", "textbox", "heading", "listitem", "alert"}
    found, names = [], 0
    for node in nodes:
        role = node.get("role", {}).get("value")
        if node.get("ignored") or role not in said:
            continue
        names += 1
        named = node.get("name", {}).get("value", "").strip()
        if role in {"button", "link", "textbox", "heading"} and not named:
            found.append(f"a {role} has no name")
    return found if names else ["the page says nothing"]
