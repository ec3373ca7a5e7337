import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react';
import type { Command } from './CommandPalette.tsx';

const CommandPalette = lazy(() => import('./CommandPalette.tsx'));

/**
 * The command palette, which Ctrl+K or the returned function opens. `/` moves the focus to the
 * search field of the page.
 */
export function usePalette(useCommands: (text: string) => readonly Command[]): readonly [() => void, ReactNode] {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        // What opened above a modal dialog would be inert.
        if (!document.querySelector('dialog[open]')) setOpen((open) => !open);
      }
      const isTyping =
        event.target instanceof Element && event.target.closest('input, textarea, select, [contenteditable]');
      if (event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
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
  const palette = isOpen && (
    <Suspense>
      <CommandPalette useCommands={useCommands} onClose={() => setOpen(false)} />
    </Suspense>
  );
  return [() => setOpen(true), palette];
}
