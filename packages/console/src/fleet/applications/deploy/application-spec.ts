import type { Application, ApplicationInput, ApplicationPart } from '@svc/convert';
import { webSchemeOf } from '../../deployments/endpoints/client-command.ts';

/** The variable that names the ports with web pages. */
const HTTP_PORTS = 'SVC_HTTP_PORTS';
/** The number of characters of a generated value. */
const LENGTH = 32;

/** What a person enters. Files have no numbers, and no inputs that are true or false. */
export type FormInput = Omit<ApplicationInput, 'type'> & {
  readonly type: ApplicationInput['type'] | 'number' | 'boolean';
};

/** The members of a part that the form shows or changes. */
type FormPart = Pick<ApplicationPart, 'name' | 'env' | 'volume_mounts'> & {
  readonly ports?: readonly {
    readonly containerPort: number;
    readonly protocol?: string;
    readonly publish?: boolean;
  }[];
};

/** What an application consists of. */
export interface ConvertedSpec extends Pick<Application, 'generated'> {
  readonly inputs: readonly FormInput[];
  readonly parts: readonly FormPart[];
}

/** A port that people and other programs use. */
interface PublishedPort {
  /** Identifies the port in the application. */
  readonly key: string;
  readonly part: string;
  readonly port: number;
  readonly protocol: string;
}

interface ApplicationMount {
  /** As requests name it, such as `database/data`. */
  readonly name: string;
  readonly mountPath: string;
}

/** The published ports of all parts. */
export const publishedPorts = ({ parts }: ConvertedSpec): readonly PublishedPort[] =>
  parts.flatMap(({ name: part, ports = [] }) =>
    ports
      .filter(({ publish }) => publish)
      .map(({ containerPort: port, protocol = 'TCP' }) => ({
        key: `${part}/${port}/${protocol}`,
        part,
        port,
        protocol,
      })),
  );

/** The published ports that can serve web pages, unless their part says which do. */
export function webPortsOf(spec: ConvertedSpec): readonly PublishedPort[] {
  const silent = new Set(spec.parts.filter((part) => !namesWebPorts(part)).map(({ name }) => name));
  return publishedPorts(spec).filter(({ part, protocol }) => protocol === 'TCP' && silent.has(part));
}

const namesWebPorts = ({ env = [] }: FormPart) => env.some(({ name }) => name === HTTP_PORTS);

/** The volume mounts, of which those that are the same volume only once. */
export function mountsOf({ parts }: ConvertedSpec): readonly ApplicationMount[] {
  const shared = new Set<string>();
  return parts.flatMap(({ name: part, volume_mounts = [] }) =>
    volume_mounts.flatMap(({ name, mountPath, shared: isShared }) => {
      if (isShared && shared.has(name)) return [];
      if (isShared) shared.add(name);
      return [{ name: `${part}/${name}`, mountPath }];
    }),
  );
}

/** What a person decides about an application that its file does not state. */
interface Decided {
  /** The network types from which the published ports are reachable. */
  readonly networks: readonly string[];
  /** The keys of the published ports that serve web pages. */
  readonly webPorts: ReadonlySet<string>;
}

/**
 * The specification with what a person has decided. A secret input that is generated is a generated value instead, and the
 * parts with published ports say where these are reachable and which of them serve web pages.
 */
export function decidedSpec(
  spec: ConvertedSpec,
  /** `generated`: the names of the secret inputs whose values the fleet generates. */
  decided: Decided & { readonly generated: ReadonlySet<string> },
) {
  const { inputs, generated = [], parts } = spec;
  const isGenerated = ({ name }: FormInput) => decided.generated.has(name);
  const names = namesOfGenerated(inputs.filter(isGenerated), generated);
  const web = webPortsOf(spec).filter(({ key }) => decided.webPorts.has(key));
  return {
    inputs: inputs.filter((input) => !isGenerated(input)),
    generated: [...generated, ...[...names.values()].map((name) => ({ name, length: LENGTH }))],
    parts: parts.map((part) => {
      const ports = web.filter((port) => port.part === part.name).map(({ port }) => webPortText(port));
      const isPublished = (part.ports ?? []).some(({ publish }) => publish);
      const env = [
        ...(part.env ?? []).map(({ name, value }) => ({ name, value: withGenerated(value, names) })),
        ...(ports.length > 0 ? [{ name: HTTP_PORTS, value: ports.join(', ') }] : []),
      ];
      return {
        ...part,
        ...(env.length > 0 && { env }),
        ...(isPublished && decided.networks.length > 0 && { required_network_types: decided.networks }),
      };
    }),
  };
}

/** The same decisions for an application of the catalog, whose specification stays as it is. */
export function overridesFor(spec: ConvertedSpec, { networks, webPorts }: Decided) {
  const web = webPortsOf(spec).filter(({ key }) => webPorts.has(key));
  return Object.fromEntries(
    spec.parts.flatMap(({ name, ports = [] }) => {
      const texts = web.filter(({ part }) => part === name).map(({ port }) => webPortText(port));
      const set = {
        ...(texts.length > 0 && { env: { [HTTP_PORTS]: texts.join(', ') } }),
        ...(networks.length > 0 && ports.some(({ publish }) => publish) && { required_network_types: [...networks] }),
      };
      return Object.keys(set).length > 0 ? [[name, set] as const] : [];
    }),
  );
}

const webPortText = (port: number): string => (webSchemeOf(port) === 'https' ? `${port}/https` : String(port));

/** The names of the generated values that replace inputs. Inputs and generated values can have the same names. */
function namesOfGenerated(
  inputs: readonly FormInput[],
  generated: readonly { readonly name: string }[],
): ReadonlyMap<string, string> {
  const taken = new Set(generated.map(({ name }) => name));
  const names = new Map<string, string>();
  for (const { name } of inputs) {
    let free = name;
    for (let number = 2; taken.has(free); number += 1) free = `${name.slice(0, 59)}_${number}`;
    taken.add(free);
    names.set(name, free);
  }
  return names;
}

/** Two dollar signs before a brace are text, and no placeholder. */
const INPUT = /\$\$\{|\$\{inputs\.([a-z0-9_]+)/g;

/** A text with the placeholders of generated values instead of those of inputs. */
const withGenerated = (text: string, names: ReadonlyMap<string, string>): string =>
  text.replace(INPUT, (whole, input: string | undefined) => {
    const name = input === undefined ? undefined : names.get(input);
    return name === undefined ? whole : `\${generated.${name}`;
  });
