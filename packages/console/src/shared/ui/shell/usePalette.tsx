import { lazy, type ReactNode, Suspense, useLayoutEffect, useState } from 'react';
import type { Command } from './CommandPalette.tsx';
import { keysShown } from './keys.ts';

const CommandPalette = lazy(() => import('./CommandPalette.tsx'));
const KeysDialog = lazy(() => import('./KeysDialog.tsx').then((module) => ({ default: module.KeysDialog })));

/**
 * The command palette, which Ctrl+K or the returned function opens, and the list of keys, which `?`
 * opens. `/` moves the focus to the search field of the page.
 */
export function usePalette(useCommands: (text: string) => readonly Command[]): readonly [() => void, ReactNode] {
  const [isOpen, setOpen] = useState(false);
  const areKeysShown = keysShown.use();
  // An effect after painting would miss keys that are pressed as soon as the page is visible.
  useLayoutEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        // What opened above a modal dialog would be inert.
        if (!document.querySelector('dialog[open]')) setOpen((open) => !open);
      }
      const isTyping =
        event.target instanceof Element && event.target.closest('input, textarea, select, [contenteditable]');
      if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === '?' && !document.querySelector('dialog[open], .palette')) keysShown.set(true);
      if (event.key === '/') {
        const field = document.querySelector('[data-search]');
        if (field instanceof HTMLElement) {
          event.preventDefault();
          field.focus();
        }
      }
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, []);
  const palette = (
    <Suspense>
      {isOpen && <CommandPalette useCommands={useCommands} onClose={() => setOpen(false)} />}
      {areKeysShown && <KeysDialog />}
    </Suspense>
  );
  return [() => setOpen(true), palette];
}
