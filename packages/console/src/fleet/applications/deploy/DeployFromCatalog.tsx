import { useQuery } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { isUnavailable } from '../../../shared/api/problem.ts';
import { href } from '../../../shared/routing/href.ts';
import type { PageProps } from '../../../shared/routing/page.tsx';
import { t } from '../../../shared/texts/texts.ts';
import { Loading } from '../../../shared/ui/feedback/states.tsx';
import { PageError } from '../../../shared/ui/shell/PageHeader.tsx';
import { adviceOfCatalog } from '../../advice/Advice.tsx';
import { type FleetOutput, fleet } from '../../api.ts';
import type { FormApplication } from './application-draft.ts';
import type { FormInput } from './application-spec.ts';
import { DeployApplication } from './DeployApplication.tsx';

type Mirrored = FleetOutput<'getMirroredApplication'>;

/** Plans and deploys an application of the catalog. */
export default function DeployFromCatalog({ params }: PageProps<'/deploy/applications/:slug'>) {
  const { data: application, error, refetch } = useQuery(fleet.read('getMirroredApplication', { params }));
  const [, navigate] = useLocation();
  if (isUnavailable({ data: application, error })) return <PageError error={error} retry={refetch} />;
  if (!application) return <Loading text={t('Loading the application…')} />;
  return (
    <DeployApplication
      application={formOf(application)}
      slug={params.slug}
      advice={adviceOfCatalog(application)}
      onBack={() => navigate(href('/catalog/applications/:slug', params))}
    />
  );
}

const TYPES: readonly FormInput['type'][] = ['text', 'choice', 'secret', 'number', 'boolean'];

/** An input of a type that only a newer hub knows is text, which the service examines. */
const inputOf = ({ name, label, type, choices, required, default: preset }: Mirrored['inputs'][number]): FormInput => ({
  name,
  label,
  type: TYPES.find((known) => known === type) ?? 'text',
  ...(choices.length > 0 && { choices }),
  required,
  ...(preset !== null && { default: String(preset) }),
});

const formOf = ({ name, slug, inputs, generated, parts }: Mirrored): FormApplication => ({
  name,
  slug,
  inputs: inputs.map(inputOf),
  generated: generated.map((each) => ({ ...each, format: 'text' })),
  parts: parts.map(({ name: part, env, ports, volume_mounts }) => ({
    name: part,
    env,
    ports,
    volume_mounts: volume_mounts.map(({ name: mount, mountPath, shared }) => ({
      name: mount,
      mountPath,
      ...(shared && { shared }),
    })),
  })),
});
