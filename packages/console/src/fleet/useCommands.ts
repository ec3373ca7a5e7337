import { useQuery } from '@tanstack/react-query';
import {
  Blocks,
  Boxes,
  CirclePlus,
  HardDrive,
  KeyRound,
  Layers,
  LayoutDashboard,
  Lock,
  RefreshCw,
  ScrollText,
  Server,
  Settings,
  UserRound,
  Users,
  Waypoints,
} from 'lucide-react';
import { href } from '../shared/routing/href.ts';
import { t } from '../shared/texts/texts.ts';
import { useSettled } from '../shared/ui/controls/useSettled.ts';
import type { Command } from '../shared/ui/shell/CommandPalette.tsx';
import { fleet, useBlocked } from './api.ts';
import { phaseLook } from './looks.ts';

const PAUSE_MS = 150;
const MAX_FOUND = 5;
const query = (search: string) => ({ search, limit: MAX_FOUND });

/** The pages, the objects of which the name contains the text, and the templates that have its words. */
export function useCommands(text: string): readonly Command[] {
  const blocked = useBlocked();
  const search = useSettled(text.trim(), PAUSE_MS);
  const enabled = search !== '';
  const deployments = useQuery({ ...fleet.read('listDeployments', { query: query(search) }), enabled });
  const templates = useQuery({
    ...fleet.read('listMirroredTemplates', { query: { q: search, limit: MAX_FOUND, view: 'summary' } }),
    enabled,
  });
  const hosts = useQuery({ ...fleet.read('listHosts', { query: query(search) }), enabled });
  const workloads = useQuery({ ...fleet.read('listWorkloads', { query: query(search) }), enabled });
  const page = (label: string, icon: Command['icon'], address: string): Command => ({
    label,
    detail: t('page'),
    icon,
    href: address,
  });
  const pages = [
    page(t('Overview'), LayoutDashboard, '/'),
    page(t('Deployments'), Boxes, '/deployments'),
    page(t('Catalog'), Blocks, '/catalog'),
    page(t('Hosts'), Server, '/hosts'),
    page(t('Clusters'), Waypoints, '/clusters'),
    page(t('Workloads'), Layers, '/workloads'),
    page(t('Storage'), HardDrive, '/storage'),
    page(t('Secrets'), Lock, '/secrets'),
    page(t('Users'), Users, '/users'),
    page(t('MCP tokens'), KeyRound, '/tokens'),
    page(t('Catalog sync'), RefreshCw, '/sync'),
    page(t('Account and sessions'), UserRound, '/account'),
    ...(blocked('listAuditEntries') ? [] : [page(t('Audit log'), ScrollText, '/audit')]),
    ...(blocked('getOidcSettings') ? [] : [page(t('Settings'), Settings, '/settings')]),
    ...(blocked('createHost')
      ? []
      : [page(t('Add a host'), CirclePlus, '/hosts/new'), page(t('Add a cluster'), CirclePlus, '/clusters/new')]),
  ];
  const folded = text.trim().toLowerCase();
  const found = enabled
    ? [
        ...(deployments.data?.deployments ?? []).map(({ id, name, phase }) => ({
          label: name,
          detail: t('deployment, {phase}', { phase: phaseLook({ phase }).label }),
          icon: Boxes,
          href: href('/deployments/:id', { id }),
        })),
        ...(templates.data?.templates ?? []).map(({ slug, name }) => ({
          label: t('Deploy {name}', { name }),
          detail: t('template'),
          icon: Blocks,
          href: href('/deploy/:slug', { slug }),
        })),
        ...(hosts.data?.hosts ?? []).map(({ id, name, engine }) => ({
          label: name,
          detail: t('host, {engine}', { engine }),
          icon: Server,
          href: href('/hosts/:id', { id }),
        })),
        ...(workloads.data?.workloads ?? []).map(({ id, name }) => ({
          label: name,
          detail: t('workload'),
          icon: Layers,
          href: href('/workloads/:id', { id }),
        })),
      ]
    : [];
  return [...pages.filter(({ label }) => label.toLowerCase().includes(folded)), ...found];
}
