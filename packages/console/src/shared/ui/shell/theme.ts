import { useState } from 'react';

const KEY = 'theme';
export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const stored = (): Theme => themes.find((theme) => theme === localStorage.getItem(KEY)) ?? 'system';

/** `system` follows the setting of the browser. */
export function applyTheme(theme: Theme = stored()): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

export function useTheme(): readonly [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState(stored);
  return [
    theme,
    (chosen) => {
      localStorage.setItem(KEY, chosen);
      applyTheme(chosen);
      setTheme(chosen);
    },
  ];
}
