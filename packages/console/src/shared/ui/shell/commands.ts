import { Keyboard, Monitor, Moon, Sun } from 'lucide-react';
import { t } from '../../texts/texts.ts';
import type { Command } from './CommandPalette.tsx';
import { keysShown } from './keys.ts';
import { setTheme } from './theme.ts';

/** A command that opens a page. */
export const pageCommand = (label: string, icon: Command['icon'], href: string): Command => ({
  label,
  detail: t('page'),
  icon,
  choice: { href },
});

const action = (label: string, icon: Command['icon'], run: () => void): Command => ({
  label,
  detail: t('action'),
  icon,
  choice: { run },
});

/** The actions that both consoles have. */
export const commonActions: readonly Command[] = [
  action(t('Switch to the dark theme'), Moon, () => setTheme('dark')),
  action(t('Switch to the light theme'), Sun, () => setTheme('light')),
  action(t('Switch to the theme of the system'), Monitor, () => setTheme('system')),
  action(t('Show the keys'), Keyboard, () => keysShown.set(true)),
];

const wordsOf = (text: string) =>
  text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');

/** Whether each word of the text begins a word of the label, such as `switch dark`. */
export function isNamed({ label }: Command, text: string): boolean {
  const words = wordsOf(label);
  return wordsOf(text).every((typed) => words.some((word) => word.startsWith(typed)));
}
