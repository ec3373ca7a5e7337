import { managedFields } from './managers.ts';
import { moment, type Stored, textAt } from './objects.ts';
import { notFound, Refusal } from './refusal.ts';
import type { Received, Target } from './request.ts';
import type { Store } from './store.ts';

/** Returns an object in the requested form: complete, or its metadata only. */
export function shownTo({ headers }: Received, store: Store, target: Target): (object: Stored) => object {
  const isPartial = /as=PartialObjectMetadata/.test(headers.accept ?? '');
  return (object) => {
    const managers = managedFields(store.managersOf(target.kind.resource, object), target.kind);
    const metadata = { ...object.metadata, ...(managers.length > 0 && { managedFields: managers }) };
    return isPartial
      ? { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata }
      : { ...object, metadata };
  };
}

export function read(store: Store, target: Target, request: Received): object {
  const found = store.find(target.kind.resource, target.namespace, target.name);
  if (!found) throw notFound(target);
  return shownTo(request, store, target)(found);
}

/** The requested objects, in pages of the requested limit. */
export function list(store: Store, target: Target, request: Received): object {
  const { query } = request;
  const all = store.list(target.kind.resource, target.namespace).filter(selects(query));
  const [version = String(store.version), from = '0'] = (query.continue ?? '').split(':').filter(Boolean);
  if (query.continue && Number(version) <= store.forgotten) throw expired();
  const until = query.limit ? Number(from) + Number(query.limit) : all.length;
  const rest = all.length > until ? { continue: `${version}:${until}`, remainingItemCount: all.length - until } : {};
  const isPartial = /as=PartialObjectMetadataList/.test(request.headers.accept ?? '');
  const typed = isPartial
    ? { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1' }
    : { kind: `${target.kind.kind}List`, apiVersion: target.kind.apiVersion };
  const items = all.slice(Number(from), until).map(shownTo(request, store, target));
  return { ...typed, metadata: { resourceVersion: version, ...rest }, items };
}

const expired = () => new Refusal(410, 'Expired', { message: 'The provided continue parameter is too old' });

/** Whether the selectors of a request match an object. */
export function selects(query: Received['query']): (object: Stored) => boolean {
  const labels = pairsOf(query.labelSelector);
  const fields = pairsOf(query.fieldSelector);
  return (object) =>
    labels.every(([key, values]) =>
      values === undefined
        ? key in (object.metadata.labels ?? {})
        : values.includes(object.metadata.labels?.[key] ?? ''),
    ) && fields.every(([path, values = []]) => values.includes(textAt(object, path)));
}

/**
 * The parsed requirements of a selector: `key`, `key=value` and `key in (one,another)`, separated
 * by commas.
 */
const pairsOf = (selector = ''): [string, string[] | undefined][] =>
  selector
    .split(/,(?![^(]*\))/)
    .filter(Boolean)
    .map((each) => {
      const [, key = '', values] = /^(\S+) in \((.*)\)$/.exec(each) ?? [];
      if (values !== undefined) return [key, values.split(',')];
      const [name = '', value] = each.split('=');
      return [name, value === undefined ? undefined : [value]];
    });

export const versionOf = (gitVersion: string) => ({
  major: '1',
  minor: gitVersion.split('.')[1],
  gitVersion,
  platform: 'linux/amd64',
  buildDate: moment(0),
});
