import fs from 'node:fs';
import path from 'node:path';
import { fleetService, hubService } from '@svc/contract';
import { repository } from '../../src/settings.ts';

/** The folder of handlers that answer questions of operators. Its name is not part of their URLs. */
const TOPIC = /^operations\//;

/** The source files of a folder, by path without extension, relative to the folder. */
function sourcesIn(folder: string): Map<string, string> {
  const names = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const sources = names.filter((name) => name.endsWith('.ts') && !name.startsWith('generated'));
  return new Map(
    sources.map((name) => [name.slice(0, -3).replace(TOPIC, ''), fs.readFileSync(path.join(folder, name), 'utf8')]),
  );
}

test.each([
  ['hub', hubService, 'apps/hub/src/api'],
  ['fleet', fleetService, 'apps/fleet/src/api'],
])('the handler of each endpoint of the %s is in the file that its URL names', (_, service, folder) => {
  const sources = sourcesIn(path.join(repository, folder));
  const misplaced = Object.values(service.endpoints).flatMap(({ operationId, path: url }) => {
    const parts = url.split('/').filter((part) => !['', 'api', 'v1'].includes(part) && !part.startsWith(':'));
    const candidates = parts.map((_part, i) => parts.slice(0, parts.length - i).join('/'));
    const file = candidates.find((candidate) => sources.has(candidate));
    return file !== undefined && sources.get(file)?.includes(`Endpoints.${operationId},`) ? [] : [`${url} (${file})`];
  });
  expect(misplaced).toEqual([]);
});
