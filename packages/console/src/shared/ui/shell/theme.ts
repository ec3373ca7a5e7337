import { createSharedValue } from '../../api/shared-value.ts';

const KEY = 'theme';
export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const current = createSharedValue<Theme>(themes.find((theme) => theme === localStorage.getItem(KEY)) ?? 'system');

export const useTheme = current.use;

/** `system` follows the setting of the browser. */
export function applyTheme(theme: Theme = current.get()): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

export function setTheme(theme: Theme): void {
  localStorage.setItem(KEY, theme);
  applyTheme(theme);
  current.set(theme);
}
