import controls from 'virtual:template-controls';
import type { Template, TemplateField } from '@svc/contract';
import { declaredText, isolated, rich, t } from '../texts/texts.ts';
import { type Fact, Facts } from '../ui/display/Facts.tsx';
import { formatBytes, formatCount, formatCpus, parseQuantity, wordsOfCode } from '../ui/display/format.ts';
import { Time } from '../ui/display/Time.tsx';
import { isDefault, partsOf } from './control-values.ts';
import { referenceOf } from './image-reference.ts';
import { isInternalVariableText, isSecretVariableText, withoutMarkers } from './secret-variable.ts';
import { tierLabel } from './tiers.ts';

/** The members that the page of a template shows in other words or at another place. */
const placed: ReadonlySet<TemplateField> = new Set([
  'description',
  'version',
  'tags',
  'is_public',
  'is_featured',
  'icon_url',
  'documentation',
  'env_schema',
  'image_name',
  'image_tag',
  'image_digest',
  'registry_url',
  'kind',
  'cpu_request',
  'memory_request',
  'gpu_count',
  'vram_request',
  'ports',
  'volume_mounts',
  'files',
  'required_network_types',
  'min_tier',
] as const);

/** The other members that have a value other than the default. */
const otherFacts = (template: Template): readonly Fact[] =>
  controls
    .filter((member) => !placed.has(member.name) && !isDefault(member, template[member.name]))
    .map(({ name, label, control }) => [
      declaredText(label),
      <span key={name} className="stack-small">
        {partsOf(control, template[name]).map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts have no identity other than their position
          <code key={`${index}-${part}`}>{isolated(part)}</code>
        ))}
      </span>,
    ]);

/** The files that a template places in the container, with their contents. */
const filesOf = ({ files }: Template): readonly Fact[] =>
  files.length === 0
    ? []
    : [
        [
          t('Files'),
          <span key="files" className="stack-small">
            {files.map(({ path, content }) => (
              <details key={path}>
                <summary>
                  <code>{isolated(path)}</code>
                </summary>
                <pre>{content}</pre>
              </details>
            ))}
          </span>,
        ],
      ];

/** What a template runs, and what it requires. */
export function TemplateFacts({ template }: { readonly template: Template }) {
  const facts: readonly Fact[] = [
    [t('Image'), <code key="image">{isolated(referenceOf(template))}</code>],
    [t('Kind'), wordsOfCode(template.kind)],
    [t('Category'), template.category_name],
    [t('CPU'), template.cpu_request ? formatCpus(parseQuantity(template.cpu_request)) : t('not requested')],
    [t('Memory'), template.memory_request ? formatBytes(parseQuantity(template.memory_request)) : t('not requested')],
    [
      t('GPUs'),
      template.gpu_count === 0
        ? t('none')
        : template.vram_request
          ? t('{count}, {size} each', {
              count: formatCount(template.gpu_count),
              size: formatBytes(parseQuantity(template.vram_request)),
            })
          : formatCount(template.gpu_count),
    ],
    [
      t('Ports'),
      template.ports.map(({ containerPort, protocol }) => `${containerPort}/${protocol}`).join(', ') || t('none'),
    ],
    [
      t('Volumes'),
      template.volume_mounts
        .map(({ name, mountPath, read_only }) =>
          read_only
            ? t('{name} at {mountPath}, only to read', { name, mountPath })
            : t('{name} at {mountPath}', { name, mountPath }),
        )
        .join(', ') || t('none'),
    ],
    ...filesOf(template),
    [t('Networks'), template.required_network_types.join(', ') || t('none required')],
    ...otherFacts(template),
    [t('Tier'), tierLabel(template.min_tier)],
    [t('Updated'), <Time key="updated" at={template.updated_at} />],
  ];
  return <Facts facts={facts} />;
}

/** The variables that a deployment sets. */
export const TemplateVariables = ({ template }: { readonly template: Template }) => (
  <ul className="item-list">
    {template.env_schema.map(({ name, required, default_value, description }) => (
      <li key={name} className="stack-small">
        <span className="row">
          <code className="strong">{name}</code>
          {required && <span className="tag">{t('required')}</span>}
          {isSecretVariableText(description) && <span className="tag">{t('secret')}</span>}
          {isInternalVariableText(description) && <span className="tag">{t('internal')}</span>}
          {default_value && (
            <span className="muted small">{rich('default {value}', { value: <code>{default_value}</code> })}</span>
          )}
        </span>
        {description && <span className="muted small">{withoutMarkers(description)}</span>}
      </li>
    ))}
  </ul>
);
