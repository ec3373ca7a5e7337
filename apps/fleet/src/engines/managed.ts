import { KEYS } from '../render/labels.ts';

/** A published port of a container. */
export interface PublishedPort {
  readonly ordinal: number;
  /** `TCP`, `UDP` or `SCTP`. */
  readonly protocol: string;
  readonly container_port: number;
  readonly host_port: number;
}

/** The address of a container in a network of the fleet. */
export interface NetworkedContainer {
  readonly ordinal: number;
  readonly address: string;
  /** The name of the network on its engine. */
  readonly network: string;
}

/** The properties of a volume in a cluster. */
interface ClaimedVolume {
  readonly size: string;
  readonly access_mode: string;
  readonly storage_class: string | null;
}

/** An object of a deployment or a volume that carries the labels of the fleet. */
export interface ManagedObject {
  readonly kind: 'deployment' | 'volume';
  /** The id of the deployment or volume. */
  readonly id: string;
  /** The name of the deployment or volume; '' if the label is malformed. */
  readonly name: string;
  readonly generation: number;
  /** Undefined if the object was created by a version that did not state it. */
  readonly source:
    | { readonly workload_id: string; readonly revision: number; readonly variables: readonly string[] }
    | undefined;
  /** The name of the object on the engine. */
  readonly object: string;
  /** The id of a container; '' for another object. */
  readonly containerId: string;
  /** The number of replicas that the object shows. */
  readonly replicas: number;
  /**
   * Of a container with all labels of the fleet: its name, and the phase of its instance if the
   * list shows it, else `other`.
   */
  readonly instance?: string;
  /** Whether a container on a host is in another network than those that the fleet creates. */
  readonly isOutside?: true;
  readonly volume?: ClaimedVolume;
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;
const NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const NUMBER = /^\d{1,9}$/;
const VARIABLE = /^[A-Za-z_]\w{0,254}$/;
const MAX_OBJECT_NAME = 253;

type Texts = Readonly<Record<string, string>>;

/**
 * What the labels and annotations of an object state; undefined if they are not those of the fleet.
 */
export function originIn(
  texts: Texts,
): Omit<ManagedObject, 'object' | 'containerId' | 'replicas' | 'instance' | 'isOutside'> | undefined {
  const { [KEYS.deployment]: deployment, [KEYS.storage]: storage, [KEYS.name]: name = '' } = texts;
  const id = deployment ?? storage ?? '';
  if (texts[KEYS.managedBy] !== 'fleet' || !UUID.test(id)) return undefined;
  const kind = deployment === undefined ? 'volume' : 'deployment';
  const generation = numberIn(texts, KEYS.generation);
  return { kind, id, name: NAME.test(name) ? name : '', generation, source: sourceIn(texts) };
}

function sourceIn(texts: Texts): ManagedObject['source'] {
  const { [KEYS.workload]: workload_id = '', [KEYS.variables]: variables = '' } = texts;
  const revision = numberIn(texts, KEYS.revision);
  const names = variables === '' ? [] : variables.split(',');
  if (!UUID.test(workload_id) || revision === 0 || !names.every((name) => VARIABLE.test(name))) return undefined;
  return { workload_id, revision, variables: names };
}

/** The number in a label; 0 if it has none. */
export function numberIn(texts: Texts, key: string): number {
  const { [key]: text = '' } = texts;
  return NUMBER.test(text) ? Number(text) : 0;
}

/** The name of an object as text for users. Engines permit only these characters. */
export const objectText = (name: string): string => name.slice(0, MAX_OBJECT_NAME).replace(/[^\w.:/() -]/g, '?');
