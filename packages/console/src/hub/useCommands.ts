import { useQuery } from '@tanstack/react-query';
import { Blocks, Building2, KeyRound, UserRound } from 'lucide-react';
import { href } from '../shared/routing/href.ts';
import { t } from '../shared/texts/texts.ts';
import { useSettled } from '../shared/ui/controls/useSettled.ts';
import type { Command } from '../shared/ui/shell/CommandPalette.tsx';
import { commonActions, isNamed, pageCommand } from '../shared/ui/shell/commands.ts';
import { hub, useBlocked, useUser } from './api.ts';
import { administrationGroup } from './navigation.tsx';

const PAUSE_MS = 150;
const MAX_FOUND = 8;

/** The pages and actions, and the templates that have the words of the text. */
export function useCommands(text: string): readonly Command[] {
  const blocked = useBlocked();
  const user = useUser();
  const search = useSettled(text.trim(), PAUSE_MS);
  const enabled = search !== '';
  const templates = useQuery({
    ...hub.read('listTemplates', { query: { q: search, limit: MAX_FOUND, view: 'summary' } }),
    enabled,
  });
  const pages = [
    pageCommand(t('Catalog'), Blocks, '/'),
    ...(user
      ? [
          pageCommand(t('Organization'), Building2, '/organization'),
          pageCommand(t('API keys'), KeyRound, '/keys'),
          pageCommand(t('Account and sessions'), UserRound, '/account'),
        ]
      : []),
    ...(blocked('getStats')
      ? []
      : administrationGroup().items.map(({ label, icon, href: to }) => pageCommand(label, icon, to))),
  ];
  const found = enabled
    ? (templates.data?.templates ?? []).map(({ slug, name }) => ({
        label: name,
        detail: t('template'),
        icon: Blocks,
        choice: { href: href('/templates/:slug', { slug }) },
      }))
    : [];
  return [...[...pages, ...commonActions].filter((command) => isNamed(command, text)), ...found];
}
