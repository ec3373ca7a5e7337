import type { KubernetesObject } from '../../../../src/render/kubernetes.ts';
import { undeclared } from '../../../render/kubernetes/members.ts';
import type { KindOf } from './kinds.ts';
import { at, isTree, type Stored } from './objects.ts';
import { invalid, Refusal } from './refusal.ts';

interface Which {
  readonly kind: KindOf;
  readonly name: string;
}

const CHECKED = [
  ...['Deployment', 'HorizontalPodAutoscaler', 'Job', 'Service', 'Secret', 'PersistentVolumeClaim'],
  'NetworkPolicy',
  'PodDisruptionBudget',
];

/**
 * Rejects undeclared fields as server-side apply does: with the status 500, although the request is
 * wrong.
 */
export function assertDeclared({ kind, name }: Which, object: Stored): void {
  if (!CHECKED.includes(kind.kind)) return;
  const [field] = undeclared(object as unknown as KubernetesObject);
  const problem = field === undefined ? untypedQuantity(object) : `${field}: field not declared in schema`;
  if (problem === undefined) return;
  const what = `${object.metadata.namespace}/${name}; ${kind.apiVersion}, Kind=${kind.kind}`;
  throw new Refusal(500, 'InternalError', { message: `failed to create typed patch object (${what}): ${problem}` });
}

/** The first amount of a container that is not text. Some versions, such as 1.20, accept no numbers in patches. */
function untypedQuantity(object: Stored): string | undefined {
  for (const container of containersOf(object)) {
    for (const list of ['limits', 'requests']) {
      const amounts = at(container, `resources.${list}`);
      for (const [resource, amount] of Object.entries(isTree(amounts) ? amounts : {})) {
        if (typeof amount === 'string') continue;
        const field = `.spec.template.spec.containers[name="${container.name}"].resources.${list}.${resource}`;
        return `${field}: expected string, got &value.valueUnstructured{Value:${amount}}`;
      }
    }
  }
  return undefined;
}

/** Rejects invalid objects. It implements only a few of the rules of API servers. */
export function assertValid({ kind, name }: Which, object: Stored): void {
  const causes = [
    ...(Number(at(object, 'spec.replicas') ?? 0) < 0
      ? [invalidValue('spec.replicas', at(object, 'spec.replicas'), 'must be greater than or equal to 0')]
      : []),
    ...containersOf(object).flatMap((container, index) => {
      const path = `spec.template.spec.containers[${index}]`;
      const variables = Array.isArray(container.env) ? container.env.filter(isTree) : [];
      return [
        ...(container.image
          ? []
          : [{ reason: 'FieldValueRequired', message: 'Required value', field: `${path}.image` }]),
        ...variables.flatMap((variable, position) =>
          /=/.test(String(variable.name))
            ? [
                invalidValue(
                  `${path}.env[${position}].name`,
                  variable.name,
                  "a valid environment variable name must not contain '='",
                ),
              ]
            : [],
        ),
      ];
    }),
  ];
  if (causes.length > 0) throw invalid({ kind, name }, causes);
}

const invalidValue = (field: string, value: unknown, why: string) => ({
  reason: 'FieldValueInvalid',
  message: `Invalid value: ${JSON.stringify(value)}: ${why}`,
  field,
});

function containersOf(object: Stored) {
  const found = at(object, 'spec.template.spec.containers');
  return Array.isArray(found) ? found.filter(isTree) : [];
}

/** The immutable fields of each kind. */
const FIXED: Readonly<Record<string, readonly string[]>> = {
  Deployment: ['spec.selector'],
  Job: ['spec.completions', 'spec.selector', 'spec.template'],
  Secret: ['type'],
};

export function assertUnchanged({ kind, name }: Which, before: Stored, after: Stored): void {
  const differs = (path: string) => JSON.stringify(at(before, path)) !== JSON.stringify(at(after, path));
  const fields = (FIXED[kind.kind] ?? []).filter(differs);
  if (fields.length > 0) {
    throw invalid(
      { kind, name },
      fields.map((field) => invalidValue(field, at(after, field), 'field is immutable')),
    );
  }
  const isFixedClaim =
    kind.kind === 'PersistentVolumeClaim' &&
    ['accessModes', 'storageClassName'].some((member) => differs(`spec.${member}`));
  if (isFixedClaim) {
    const message =
      'Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
    throw invalid({ kind, name }, [{ reason: 'FieldValueForbidden', message, field: 'spec' }]);
  }
}
