// @ts-check
// Light and dark: the system's choice, until somebody makes another one in this browser.

const KEY = "switchroom-theme";

/** @typedef {"system" | "light" | "dark"} Theme */

/** @returns {Theme} */
export function chosenTheme() {
  const stored = localStorage.getItem(KEY);
  return stored === "light" || stored === "dark" ? stored : "system";
}

/** @param {Theme} theme */
export function chooseTheme(theme) {
  if (theme === "system") localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, theme);
  applyTheme();
}

function applyTheme() {
  const theme = chosenTheme();
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

applyTheme();
