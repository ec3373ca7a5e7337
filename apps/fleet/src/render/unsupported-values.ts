import { deviceVariableErrors, type FieldError, parseFields } from '@svc/contract';
import { type WorkloadSpec, workloadFields } from '@svc/contract/fleet';
import { Problem } from '@svc/http';
import { z } from 'zod';

const rules = z.object(workloadFields);

const MAX_ERRORS = 20;
const MAX_PATH = 200;
const MAX_VALUE = 80;

/**
 * Checks a specification against the rules of its members. The mirror keeps values that this
 * version does not know, so a template of a newer hub can have them.
 * @throws 422 with the members and their values
 */
export function refuseUnsupported(spec: WorkloadSpec): void {
  const result = parseFields(rules, spec);
  if (result.success) return;
  const errors = result.errors.slice(0, MAX_ERRORS).map(({ path, message }): FieldError => {
    const value = shortened(JSON.stringify(valueAt(spec, path)) ?? 'missing', MAX_VALUE);
    return { path: shortened(path, MAX_PATH), message: `${message}; the template has ${value}` };
  });
  const list = errors.map(({ path, message }) => `${path} ${message}`).join('. ');
  const detail = `Nothing was changed. This version of the fleet does not support values of the template: ${list}. Create a workload of the template with other values for these members, or upgrade the fleet.`;
  throw new Problem('unsupported_value', detail, { errors });
}

/**
 * Refuses variables by which engines give devices. Only what a request writes is checked: stored
 * workloads keep such variables, and the current defaults do not pass them to the container.
 * @throws 422 with the variables
 */
export function refuseDeviceVariables(written: Parameters<typeof deviceVariableErrors>[0]): void {
  const errors = deviceVariableErrors(written).slice(0, MAX_ERRORS);
  if (errors.length === 0) return;
  const detail = `Nothing was changed: ${errors.map(({ path, message }) => `${path}: ${message}`).join('. ')}.`;
  throw new Problem('unsupported_value', detail, { errors });
}

const shortened = (text: string, length: number) => (text.length <= length ? text : `${text.slice(0, length)}…`);

/** The value at a path. A key of an object can contain dots. */
function valueAt(value: unknown, path: string): unknown {
  if (path === '' || typeof value !== 'object' || value === null) return value;
  const entries = new Map(Object.entries(value));
  if (entries.has(path)) return entries.get(path);
  const [first = '', ...rest] = path.split('.');
  return valueAt(entries.get(first), rest.join('.'));
}
