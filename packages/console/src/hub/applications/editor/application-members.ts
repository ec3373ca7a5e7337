import type { AnyControl, ObjectsControl, TemplateControl } from '@svc/contract';
import { topicHeadings } from '../../../shared/catalog/topics.ts';
import { t } from '../../../shared/texts/texts.ts';

/** A member of an application or of a part, and the control that edits it. */
export interface EditedMember {
  readonly name: string;
  readonly label: string;
  readonly control: AnyControl;
  readonly default: unknown;
  readonly example?: unknown;
}

interface Section {
  readonly heading: string;
  readonly members: readonly EditedMember[];
}

const inputs: ObjectsControl = {
  kind: 'objects',
  add: t('Add an input'),
  members: {
    name: { label: t('Name'), control: { kind: 'text' } },
    label: { label: t('Label'), control: { kind: 'text', hint: t('What people read. Empty: the name.') } },
    type: {
      label: t('Type'),
      control: {
        kind: 'select',
        options: {
          text: t('Text'),
          number: t('Number'),
          boolean: t('Yes or no'),
          choice: t('Choice'),
          secret: t('Secret'),
        },
      },
    },
    default: { label: t('Default'), control: { kind: 'text', hint: t('Empty: none. A secret has none.') } },
    choices: { label: t('Choices'), control: { kind: 'prose', hint: t('One per line, for the type Choice.') } },
    required: { label: t('Required'), control: { kind: 'checkbox' } },
  },
};

const generated: ObjectsControl = {
  kind: 'objects',
  add: t('Add a generated value'),
  members: {
    name: { label: t('Name'), control: { kind: 'text' } },
    length: {
      label: t('Length'),
      control: { kind: 'number', hint: t('From 16 to 128. Empty: 32.') },
      isOptional: true,
    },
    format: {
      label: t('Format'),
      control: {
        kind: 'select',
        options: { text: t('Letters and digits'), hex: t('Hexadecimal'), base64: t('Base64'), uuid: t('UUID') },
      },
    },
  },
};

const ports: ObjectsControl = {
  kind: 'objects',
  add: t('Add a port'),
  members: {
    containerPort: { label: t('Port'), control: { kind: 'number' } },
    protocol: { label: t('Protocol'), control: { kind: 'select', options: { TCP: 'TCP', UDP: 'UDP', SCTP: 'SCTP' } } },
    host_port: {
      label: t('Port of the host'),
      control: { kind: 'number', hint: t('A wish. The operator decides.') },
      isOptional: true,
    },
    publish: { label: t('Published'), control: { kind: 'checkbox' } },
  },
};

const mounts: ObjectsControl = {
  kind: 'objects',
  add: t('Add a volume'),
  members: {
    name: { label: t('Name'), control: { kind: 'text' } },
    mountPath: { label: t('Path'), control: { kind: 'text' } },
    read_only: { label: t('Read only'), control: { kind: 'checkbox' } },
    shared: { label: t('Shared with other parts'), control: { kind: 'checkbox' } },
  },
};

const needs: ObjectsControl = {
  kind: 'objects',
  add: t('Add a part that it needs'),
  members: {
    part: { label: t('Part'), control: { kind: 'text' } },
    until: {
      label: t('Until'),
      control: {
        kind: 'select',
        options: { ready: t('It is ready'), started: t('It has started'), finished: t('It has finished, for a job') },
      },
    },
  },
};

/** The members of a workload that a part has in another form. */
const ofParts: Readonly<Record<string, ObjectsControl>> = { ports, volume_mounts: mounts };

/** The members that only a part has. */
const aboutPart: readonly EditedMember[] = [
  {
    name: 'name',
    label: t('Name'),
    control: { kind: 'text', hint: t('Other parts reach it by this name.') },
    default: '',
  },
  {
    name: 'was',
    label: t('Earlier name'),
    control: { kind: 'text', hint: t('An update finds its volumes and values by it.') },
    default: null,
  },
  {
    name: 'run',
    label: t('A job runs'),
    control: { kind: 'select', options: { once: t('Once'), each_version: t('Again for each version') } },
    default: 'once',
  },
  { name: 'needs', label: t('Starts after'), control: needs, default: [] },
  { name: 'scalable', label: t('Can have several replicas'), control: { kind: 'checkbox' }, default: false },
];

/** Inputs and generated values. */
export const valueMembers: readonly EditedMember[] = [
  { name: 'inputs', label: t('Values that people enter'), control: inputs, default: [] },
  { name: 'generated', label: t('Generated values'), control: generated, default: [] },
];

const isCatalog = ({ topic }: TemplateControl) => topic === 'catalog' || topic === 'documentation';

/** The names of the members of the catalog that an application does not have. */
const ONLY_TEMPLATES: readonly string[] = ['icon_url'];

/** The members that describe an application in the catalog. */
export const catalogMembersOf = (controls: readonly TemplateControl[]): readonly EditedMember[] =>
  controls.filter((member) => isCatalog(member) && !ONLY_TEMPLATES.includes(member.name));

/** The form of a part: what only a part has, and then the form of a template. */
export function partSectionsOf(controls: readonly TemplateControl[]): readonly Section[] {
  const members = controls.filter((member) => !isCatalog(member));
  const headings = [...new Set(Object.values(topicHeadings))];
  return [
    { heading: '', members: aboutPart },
    ...headings
      .map((heading) => ({
        heading,
        members: members
          .filter(({ topic }) => topicHeadings[topic] === heading)
          .map((member) => ({ ...member, control: ofParts[member.name] ?? member.control })),
      }))
      .filter((section) => section.members.length > 0),
  ];
}
