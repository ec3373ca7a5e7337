import { useQuery } from '@tanstack/react-query';
import { Blocks, Building2, KeyRound, UserRound } from 'lucide-react';
import { href } from '../shared/routing/href.ts';
import { t } from '../shared/texts/texts.ts';
import { useSettled } from '../shared/ui/controls/useSettled.ts';
import type { Command } from '../shared/ui/shell/CommandPalette.tsx';
import { hub, useBlocked, useUser } from './api.ts';
import { administrationGroup } from './navigation.ts';

const PAUSE_MS = 150;
const MAX_FOUND = 8;

/** The pages, and the templates that have the words of the text. */
export function useCommands(text: string): readonly Command[] {
  const blocked = useBlocked();
  const user = useUser();
  const search = useSettled(text.trim(), PAUSE_MS);
  const enabled = search !== '';
  const templates = useQuery({
    ...hub.read('listTemplates', { query: { q: search, limit: MAX_FOUND, view: 'summary' } }),
    enabled,
  });
  const page = (label: string, icon: Command['icon'], address: string): Command => ({
    label,
    detail: t('page'),
    icon,
    href: address,
  });
  const pages = [
    page(t('Catalog'), Blocks, '/'),
    ...(user
      ? [
          page(t('Organization'), Building2, '/organization'),
          page(t('API keys'), KeyRound, '/keys'),
          page(t('Account and sessions'), UserRound, '/account'),
        ]
      : []),
    ...(blocked('getStats') ? [] : administrationGroup.items.map(({ label, icon, href: to }) => page(label, icon, to))),
  ];
  const found = enabled
    ? (templates.data?.templates ?? []).map(({ slug, name }) => ({
        label: name,
        detail: t('template'),
        icon: Blocks,
        href: href('/templates/:slug', { slug }),
      }))
    : [];
  const folded = text.trim().toLowerCase();
  return [...pages.filter(({ label }) => label.toLowerCase().includes(folded)), ...found];
}
