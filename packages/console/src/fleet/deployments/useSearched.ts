import { useState } from 'react';
import { useSettled } from '../../shared/ui/controls/useSettled.ts';

/** More objects than this are found by typing a part of their name. */
const MAX_CHOICES = 100;
const PAUSE_MS = 200;

/**
 * The query of the objects that a field offers: those whose name contains what the user types, or
 * the first ones.
 */
export function useSearched() {
  const [text, onSearch] = useState('');
  const search = useSettled(text.trim(), PAUSE_MS);
  return {
    onSearch,
    query: { limit: MAX_CHOICES, sort: 'name', ...(search === '' ? {} : { search }) } as const,
    /** Whether the query does not have the text yet. */
    isTyping: search !== text.trim(),
  };
}

/** The objects that were found, and the chosen one, which can be another one. */
export const withChosen = <T extends { readonly id: string }>(
  found: readonly T[] = [],
  chosen: T | undefined,
): readonly T[] => (chosen && !found.some(({ id }) => id === chosen.id) ? [...found, chosen] : found);
