import { useQuery } from '@tanstack/react-query';
import {
  Blocks,
  Boxes,
  CircleArrowUp,
  CirclePlay,
  CirclePlus,
  CircleStop,
  Combine,
  FileCheck,
  FileInput,
  GitBranch,
  HardDrive,
  KeyRound,
  Layers,
  LayoutDashboard,
  Lock,
  Pencil,
  RefreshCw,
  RotateCw,
  ScrollText,
  Server,
  Settings,
  Trash2,
  UserRound,
  Users,
  Waypoints,
} from 'lucide-react';
import { href } from '../shared/routing/href.ts';
import { t } from '../shared/texts/texts.ts';
import { useSettled } from '../shared/ui/controls/useSettled.ts';
import type { Command } from '../shared/ui/shell/CommandPalette.tsx';
import { commonActions, isNamed, pageCommand } from '../shared/ui/shell/commands.ts';
import { type Deployment, fleet, useBlocked } from './api.ts';
import { chosenAction } from './deployments/list/ActionDialog.tsx';
import type { BulkAction } from './deployments/list/bulk-plan.ts';
import { phaseLook } from './looks.ts';

const PAUSE_MS = 150;
const MAX_FOUND = 5;
const query = (search: string) => ({ search, limit: MAX_FOUND });

/**
 * The pages and actions that the text names, the objects of which the name contains it, and the
 * templates that have its words. If the text begins with a verb, such as `restart web`: the action
 * with each deployment of which the name contains the rest.
 */
export function useCommands(text: string): readonly Command[] {
  const blocked = useBlocked();
  const canChange = blocked('updateDeployment') === undefined;
  const permitted = verbs.filter(({ needsWrite }) => canChange || !needsWrite);
  const asked = permitted.find(({ label }) => text.toLowerCase().startsWith(`${label.toLowerCase()} `));
  const search = useSettled(text.slice(asked ? asked.label.length : 0).trim(), PAUSE_MS);
  const enabled = search !== '' && !asked;
  const deployments = useQuery({
    ...fleet.read('listDeployments', { query: query(search) }),
    enabled: enabled || asked !== undefined,
  });
  const templates = useQuery({
    ...fleet.read('listMirroredTemplates', { query: { q: search, limit: MAX_FOUND, view: 'summary' } }),
    enabled,
  });
  const hosts = useQuery({ ...fleet.read('listHosts', { query: query(search) }), enabled });
  const workloads = useQuery({ ...fleet.read('listWorkloads', { query: query(search) }), enabled });
  const pages = [
    pageCommand(t('Overview'), LayoutDashboard, '/'),
    pageCommand(t('Deployments'), Boxes, '/deployments'),
    pageCommand(t('Applications'), Combine, '/applications'),
    pageCommand(t('Updates'), CircleArrowUp, '/updates'),
    pageCommand(t('Plans'), FileCheck, '/plans'),
    pageCommand(t('Sources'), GitBranch, '/sources'),
    pageCommand(t('Catalog'), Blocks, '/catalog'),
    pageCommand(t('Convert a Compose file'), FileInput, '/convert'),
    pageCommand(t('Hosts'), Server, '/hosts'),
    pageCommand(t('Clusters'), Waypoints, '/clusters'),
    pageCommand(t('Workloads'), Layers, '/workloads'),
    pageCommand(t('Storage'), HardDrive, '/storage'),
    pageCommand(t('Secrets'), Lock, '/secrets'),
    pageCommand(t('Users'), Users, '/users'),
    pageCommand(t('MCP tokens'), KeyRound, '/tokens'),
    pageCommand(t('Catalog sync'), RefreshCw, '/sync'),
    pageCommand(t('Account and sessions'), UserRound, '/account'),
    ...(blocked('listAuditEntries') ? [] : [pageCommand(t('Audit log'), ScrollText, '/audit')]),
    ...(blocked('getOidcSettings') ? [] : [pageCommand(t('Settings'), Settings, '/settings')]),
    ...(blocked('createHost')
      ? []
      : [
          pageCommand(t('Add a host'), CirclePlus, '/hosts/new'),
          pageCommand(t('Add a cluster'), CirclePlus, '/clusters/new'),
        ]),
    ...(blocked('createDeployment') ? [] : [pageCommand(t('Deploy an image'), CirclePlus, '/deployments/new')]),
  ];
  if (asked) {
    return (deployments.data?.deployments ?? []).map((deployment) => ({
      label: `${asked.label} ${deployment.name}`,
      detail: t('deployment, {phase}', { phase: phaseLook(deployment).label }),
      icon: asked.icon,
      choice: asked.choiceOf(deployment),
    }));
  }
  const found = enabled
    ? [
        ...(deployments.data?.deployments ?? []).map(({ id, name, phase }) => ({
          label: name,
          detail: t('deployment, {phase}', { phase: phaseLook({ phase }).label }),
          icon: Boxes,
          choice: { href: href('/deployments/:id', { id }) },
        })),
        ...(templates.data?.templates ?? []).map(({ slug, name }) => ({
          label: t('Deploy {name}', { name }),
          detail: t('template'),
          icon: Blocks,
          choice: { href: href('/deploy/:slug', { slug }) },
        })),
        ...(hosts.data?.hosts ?? []).map(({ id, name, engine }) => ({
          label: name,
          detail: t('host, {engine}', { engine }),
          icon: Server,
          choice: { href: href('/hosts/:id', { id }) },
        })),
        ...(workloads.data?.workloads ?? []).map(({ id, name }) => ({
          label: name,
          detail: t('workload'),
          icon: Layers,
          choice: { href: href('/workloads/:id', { id }) },
        })),
      ]
    : [];
  const begun = permitted.map(({ label, icon }) => ({
    label: `${label} …`,
    detail: t('action'),
    icon,
    choice: { next: `${label} ` },
  }));
  // With an empty text, the pages are enough.
  const shown = [...pages, ...(enabled ? [...begun, ...commonActions] : [])];
  return [...shown.filter((command) => isNamed(command, text)), ...found];
}

interface Verb {
  /** The verb in front of the name of a deployment. */
  readonly label: string;
  readonly icon: Command['icon'];
  readonly needsWrite: boolean;
  readonly choiceOf: (deployment: Deployment) => Command['choice'];
}

const bulkVerb = (label: string, icon: Command['icon'], action: BulkAction): Verb => ({
  label,
  icon,
  needsWrite: true,
  choiceOf: (deployment) => ({ run: () => chosenAction.set({ action, deployment }) }),
});

/** What the palette does with deployments. Each action has its plan and its confirmation. */
const verbs: readonly Verb[] = [
  bulkVerb(t('Start'), CirclePlay, 'start'),
  bulkVerb(t('Stop'), CircleStop, 'stop'),
  bulkVerb(t('Restart'), RotateCw, 'restart'),
  bulkVerb(t('Delete'), Trash2, 'delete'),
  {
    label: t('Change'),
    icon: Pencil,
    needsWrite: true,
    choiceOf: ({ id }) => ({ href: href('/deployments/:id/change', { id }) }),
  },
  {
    label: t('Log'),
    icon: ScrollText,
    needsWrite: false,
    choiceOf: ({ id }) => ({ href: href('/deployments/:id', { id }, { tab: 'log' }) }),
  },
];
