import type { Description } from '../application.ts';
import { type Converted, converted, convertServices, labelOf, type SourceFile, treeIn } from '../compose/compose.ts';
import { Conversion, type Determined, type Key, type Piece, Refused, type Variable } from '../compose/context.ts';
import { drop, type PartDraft } from '../compose/rules.ts';
import { environmentWith } from '../compose/service.ts';
import { type Tree, textsIn } from '../compose/tree.ts';
import { piecesIn } from '../compose/variables.ts';
import { generatedBy } from './generated.ts';
import { headerOf } from './header.ts';

/** An address such as `SERVICE_URL_GHOST_2368`. */
interface Address {
  readonly kind: 'URL' | 'FQDN';
  readonly name: string;
  readonly port: number | undefined;
}

const ADDRESS = /^SERVICE_(URL|FQDN)_([A-Za-z0-9_]+)$/;

/** The variables that the platform sets to addresses of these ports. */
const NAMED_ADDRESSES: Readonly<Record<string, number>> = {
  MINIO_SERVER_URL: 9000,
  MINIO_BROWSER_REDIRECT_URL: 9001,
  RUSTFS_SERVER_URL: 9000,
  RUSTFS_BROWSER_REDIRECT_URL: 9001,
  GARAGE_S3_API_URL: 3900,
  GARAGE_WEB_URL: 3902,
  GARAGE_ADMIN_URL: 3903,
};

function addressIn(variable: string): Address | undefined {
  const named = Object.hasOwn(NAMED_ADDRESSES, variable) ? NAMED_ADDRESSES[variable] : undefined;
  if (named !== undefined) return { kind: 'URL', name: variable, port: named };
  const [, kind, rest = ''] = ADDRESS.exec(variable) ?? [];
  if (kind === undefined) return undefined;
  const [, name = rest, digits] = /^(.*)_(\d{1,5})$/.exec(rest) ?? [];
  return { kind: kind === 'URL' ? 'URL' : 'FQDN', name, port: digits === undefined ? undefined : Number(digits) };
}

/** The service that is reached at an address, and its port; undefined: the file does not state it. */
interface Domain {
  readonly service: string;
  readonly port: number | undefined;
}

/** The addresses of a template. */
class Domains {
  readonly #declared = new Map<string, Domain>();
  readonly #users = new Map<string, Set<string>>();

  /** `port` is that of the header, for the only service with an address or the one with the name of the template. */
  constructor(services: ReadonlyMap<string, Tree>, port: number | undefined, template: string) {
    for (const [service, tree] of services) {
      for (const text of textsIn(tree))
        for (const [, used = ''] of text.matchAll(/\$\{?([A-Z][A-Za-z0-9_]{0,200})/g)) this.#use(used, service);
      const environment = tree.kind === 'map' ? tree.entries.get('environment') : undefined;
      for (const variable of variablesOf(environment)) {
        const address = addressIn(variable);
        if (!address) continue;
        const declared = this.#declared.get(address.name);
        if (declared && declared.service !== service) this.#use(variable, service);
        this.#declare(address, declared?.service ?? service);
      }
    }
    for (const name of this.#users.keys()) {
      const service = [...services.keys()].find((each) => variableNameOf(each) === name);
      if (service !== undefined && !this.#declared.has(name))
        this.#declare({ kind: 'URL', name, port: undefined }, service);
    }
    const [only] = services.size === 1 ? services.keys() : [];
    // Its domain leads to the port of the header, although no variable has it.
    if (this.#declared.size === 0 && only !== undefined && port !== undefined)
      this.#declared.set(only, { service: only, port });
    const reached = new Set([...this.#declared.values()].map(({ service }) => service));
    for (const [name, domain] of this.#declared) {
      const isMain = reached.size === 1 || labelOf(domain.service, '') === labelOf(template, '');
      const stated = domain.port ?? (isMain ? port : undefined) ?? portOfCheck(services.get(domain.service));
      this.#declared.set(name, { ...domain, port: stated });
    }
  }

  #use(variable: string, service: string): void {
    const { name } = addressIn(variable) ?? {};
    if (name !== undefined) this.#users.set(name, (this.#users.get(name) ?? new Set()).add(service));
  }

  #declare({ name, port }: Address, service: string): void {
    const present = this.#declared.get(name);
    if (present?.port === undefined) this.#declared.set(name, { service, port });
  }

  of(service: string): readonly Domain[] {
    return [...this.#declared.values()].filter((domain) => domain.service === service);
  }

  /** Whether a value of the file uses the address. */
  isUsed(name: string): boolean {
    return this.#users.has(name);
  }

  /** What stands for an address in a text. */
  piece({ kind, name }: Address): Determined | Variable {
    const domain = this.#declared.get(name);
    const isOwn = [...(this.#users.get(name) ?? [])].every((user) => user === domain?.service);
    if (kind === 'URL' && domain?.port !== undefined && isOwn)
      return { kind: 'determined', placeholder: `\${self.url.${domain.port}}`, harmless: 'public_address' };
    return {
      kind: 'variable',
      variable: `${kind === 'URL' ? 'URL' : 'HOST'}_${name}`,
      label: kind === 'URL' ? `Public URL of ${name.toLowerCase()}` : `Public host name of ${name.toLowerCase()}`,
      fallback: undefined,
      isRequired: true,
      isSecret: false,
      harmless: 'public_address',
    };
  }
}

const LOCAL_URL = /https?:\/\/(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\])(?::(\d{1,5}))?(?=[/"' ]|$)/;
const HTTP_PORT = 80;

/** The port that the health check of a service requests; undefined: it requests none. */
function portOfCheck(service: Tree | undefined): number | undefined {
  const check = service?.kind === 'map' ? service.entries.get('healthcheck') : undefined;
  const [url, digits] = LOCAL_URL.exec(check ? textsIn(check).join(' ') : '') ?? [];
  if (url === undefined) return undefined;
  return digits === undefined ? HTTP_PORT : Number(digits);
}

/** The part of a variable that names a service. */
const variableNameOf = (service: string): string => service.toUpperCase().replaceAll(/[-.]/g, '_');

/** The names of the variables in `environment`. */
function variablesOf(environment: Tree | undefined): readonly string[] {
  if (environment?.kind === 'map') return [...environment.entries.keys()];
  if (environment?.kind !== 'list') return [];
  return environment.items.map((item) => (item.kind === 'text' ? (item.text.split('=', 1)[0] ?? '') : ''));
}

/** Converts a service template of Coolify, which is a Compose file with variables that the platform sets. */
export function convertCoolify(source: SourceFile): Converted {
  const header = headerOf(source.text);
  let domains = new Domains(new Map(), undefined, source.name);
  const read = (variable: string): Piece | undefined => {
    const address = addressIn(variable);
    return address ? domains.piece(address) : generatedBy(conversion, variable);
  };
  const pieces = (text: string) => piecesIn(text, { read, hasDefaultsOfRequired: true, canSecretsBeEmpty: true });
  const conversion = new Conversion(source.file, pieces);
  const tree = treeIn(conversion, source.text, { mergesLists: true });
  if (!tree) return converted(conversion, undefined);
  const services = tree.kind === 'map' ? tree.entries.get('services') : undefined;
  if (services?.kind === 'map') domains = new Domains(services.entries, header.port, source.name);
  const description: Description = header.report(conversion);
  const application = convertServices(conversion, tree, source, {
    pieces,
    description,
    volumes: { folderBeside: 'platform_folder', hasContent: true },
    service: {
      environment: environmentWith((key, name, value, { conversion }) => {
        const address = addressIn(name);
        if (address && (value ?? '').startsWith('/') === (value !== undefined) && !domains.isUsed(address.name)) {
          conversion.harmless(key, 'public_port');
          return undefined;
        }
        return value === undefined ? pieces(`\${${name}}`) : pieces(value);
      }),
      exclude_from_hc: drop('platform'),
      is_directory: drop('platform'),
    },
    complete: (service, draft, conversion) => publish(service, draft, conversion, domains),
  });
  return converted(conversion, application);
}

/** Publishes the ports at which a service has addresses. */
function publish(service: Key, draft: PartDraft, conversion: Conversion, domains: Domains): void {
  const reached = domains.of(service.part ?? '');
  const ports = new Set(reached.flatMap(({ port }) => port ?? []));
  for (const containerPort of ports) {
    if (containerPort < 1 || containerPort > 65_535)
      throw new Refused('has an address with a port that is not from 1 to 65535');
    const others = (draft.ports ?? []).filter((port) => port.containerPort !== containerPort || port.protocol);
    const present = (draft.ports ?? []).find((port) => port.containerPort === containerPort && !port.protocol);
    draft.ports = [...others, { ...present, containerPort, publish: true }];
  }
  if (reached.length > 0 && ports.size === 0 && !draft.ports?.some((port) => port.publish))
    conversion.note(
      { ...service, path: ['(address)'] },
      'The file does not state at which port the program listens. Publish this port.',
    );
}
