import { t } from '../../../shared/texts/texts.ts';
import { CheckField, FieldError, TextAreaField, TextField } from '../../../shared/ui/controls/Field.tsx';
import { type Cluster, useCaller } from '../../api.ts';

type Elastic = NonNullable<Cluster['elastic']>;

/** The limits of an elastic cluster, as the user writes them. */
export interface ElasticDraft {
  readonly isElastic: boolean;
  readonly max_nodes: string;
  readonly cpu: string;
  readonly memory: string;
  readonly gpu_count: string;
  /** One model per line: its name, memory and number. */
  readonly gpus: string;
}

export const elasticDraftOf = (elastic: Cluster['elastic']): ElasticDraft => ({
  isElastic: elastic !== null,
  max_nodes: String(elastic?.max_nodes ?? ''),
  cpu: elastic?.per_replica.cpu ?? '',
  memory: elastic?.per_replica.memory ?? '',
  gpu_count: String(elastic?.per_replica.gpu_count ?? 0),
  gpus: (elastic?.gpus ?? []).map(({ model, vram, count }) => [model, vram, count].join(', ')).join('\n'),
});

/** The member of a cluster. The service rejects what is not a number. */
export const elasticOf = ({ isElastic, ...draft }: ElasticDraft): Elastic | null =>
  isElastic
    ? {
        max_nodes: Number(draft.max_nodes),
        per_replica: { cpu: draft.cpu.trim(), memory: draft.memory.trim(), gpu_count: Number(draft.gpu_count) },
        gpus: draft.gpus
          .split('\n')
          .map((line) => line.split(',').map((part) => part.trim()))
          .filter(([model]) => model)
          .map(([model = '', vram = '', count = '']) => ({ model, vram, count: Number(count) })),
      }
    : null;

/** Whether the cluster adds nodes when pods need them, and its limits. Only admins can change them. */
export function ElasticFields({
  draft,
  onChange,
  errorAt,
}: {
  readonly draft: ElasticDraft;
  readonly onChange: (draft: ElasticDraft) => void;
  readonly errorAt: (...paths: readonly string[]) => string | undefined;
}) {
  const isAdmin = useCaller().role === 'admin';
  const bind = (name: Exclude<keyof ElasticDraft, 'isElastic'>, path: string) => ({
    name: `elastic.${path}`,
    value: draft[name],
    onChange: (value: string) => onChange({ ...draft, [name]: value }),
    error: errorAt(`elastic.${path}`),
  });
  const error = errorAt('elastic');
  return (
    <fieldset className="form" disabled={!isAdmin}>
      <legend className="strong">{t('New nodes')}</legend>
      <CheckField
        name="elastic"
        label={t('The cluster adds nodes when pods need them')}
        hint={
          isAdmin
            ? t(
                'Deployments are then placed here even if no present node has the capacity. Present capacity is preferred.',
              )
            : t('This requires the role admin.')
        }
        checked={draft.isElastic}
        onChange={(isElastic) => onChange({ ...draft, isElastic })}
      />
      {draft.isElastic && (
        <>
          <div className="fields">
            <TextField
              {...bind('max_nodes', 'max_nodes')}
              label={t('Maximum number of nodes')}
              hint={t('With the present ones.')}
              type="number"
              min={1}
            />
            <TextField {...bind('cpu', 'per_replica.cpu')} label={t('CPU per replica')} placeholder="8" mono />
            <TextField
              {...bind('memory', 'per_replica.memory')}
              label={t('Memory per replica')}
              hint={t('The most that one replica can request: what the largest node has while it is empty.')}
              placeholder="32Gi"
              mono
            />
            <TextField
              {...bind('gpu_count', 'per_replica.gpu_count')}
              label={t('GPUs per replica')}
              type="number"
              min={0}
            />
          </div>
          <TextAreaField
            {...bind('gpus', 'gpus')}
            label={t('Maximum number of GPUs')}
            hint={t(
              'One model per line: model, memory of each GPU, number. The model is the label nvidia.com/gpu.product of the nodes.',
            )}
            placeholder="NVIDIA-L4, 24Gi, 4"
            rows={2}
          />
        </>
      )}
      {error && !draft.isElastic && <FieldError text={error} />}
    </fieldset>
  );
}
