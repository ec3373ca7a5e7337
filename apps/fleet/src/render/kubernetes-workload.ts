import type { IDeployment } from 'kubernetes-models/apps/v1/Deployment';
import type { IJob } from 'kubernetes-models/batch/v1/Job';
import { gpuCountOf } from '../placement/demand.ts';
import type { Metadata } from './cluster.ts';
import { selectorOf, wishesOf } from './labels.ts';
import { objectName } from './names.ts';
import { podTemplate } from './pod.ts';
import { isJob, type Rendering, volumesOf } from './rendering.ts';

interface Given {
  readonly metadata: Metadata;
  readonly gpuResource: string;
}

/** How long a pull of some 20 GB and a start may take before Kubernetes says that nothing goes on. */
const PROGRESS_DEADLINE_SECONDS = 1800;
/** There are no probes: a container that lives this long counts as started. */
const MIN_READY_SECONDS = 10;
/** The fleet keeps the revisions; one of Kubernetes' own is enough to look at. */
const REVISION_HISTORY_LIMIT = 1;

/** What runs: a Job where it ends by itself, else a Deployment. */
export function kubernetesWorkload(rendering: Rendering, { metadata, gpuResource }: Given): IDeployment | IJob {
  const template = podTemplate(rendering, gpuResource);
  const annotated = { ...metadata, annotations: { ...metadata.annotations, ...wishesOf(rendering) } };
  return isJob(rendering) ? job(rendering, annotated, template) : deployment(rendering, annotated, template);
}

type Template = ReturnType<typeof podTemplate>;

const deployment = (rendering: Rendering, metadata: Metadata, template: Template): IDeployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { ...metadata, name: objectName(rendering) },
  spec: {
    replicas: rendering.replicas,
    selector: { matchLabels: selectorOf(rendering) },
    strategy: strategyOf(rendering),
    progressDeadlineSeconds: PROGRESS_DEADLINE_SECONDS,
    minReadySeconds: MIN_READY_SECONDS,
    revisionHistoryLimit: REVISION_HISTORY_LIMIT,
    template,
  },
});

/**
 * A volume for one node is given up before another pod can have it: started first, the new pod would wait for the old
 * one's volume and the old one for the new pod. GPUs are counted out, so there is none to spare for a pod too many.
 * `rollingUpdate` is always written: of fields that it set itself, Kubernetes would not rid a later `Recreate`.
 */
function strategyOf(rendering: Rendering): NonNullable<NonNullable<IDeployment['spec']>['strategy']> {
  if (volumesOf(rendering).some(({ access_mode }) => access_mode === 'ReadWriteOnce')) return { type: 'Recreate' };
  const rollingUpdate =
    gpuCountOf(rendering.spec) > 0 ? { maxSurge: 0, maxUnavailable: 1 } : { maxSurge: 1, maxUnavailable: 0 };
  return { type: 'RollingUpdate', rollingUpdate };
}

/**
 * A Job can't be changed, so each generation has its own. It runs once: whether to run again is the fleet's decision.
 * One of none is suspended: with nothing to complete it would be complete.
 */
const job = (rendering: Rendering, metadata: Metadata, template: Template): IJob => {
  const pods = Math.max(1, rendering.replicas);
  const suspended = rendering.replicas === 0 ? { suspend: true } : {}; // older clusters know no suspension
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { ...metadata, name: `${objectName(rendering)}-${rendering.generation}` },
    spec: { ...suspended, completions: pods, parallelism: pods, backoffLimit: 0, template },
  };
};
