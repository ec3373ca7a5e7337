import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { writeCatalog } from '../../src/database/catalog-write.ts';
import { startWorld } from '../world.ts';

// Runs the two example clients of docs/sync.md.
const page = readFileSync(path.resolve(import.meta.dirname, '../../../../docs/sync.md'), 'utf8');
const examples = [...page.matchAll(/```js\n(.*?)```/gs)].map(([, code = '']) => code);

interface Copy {
  readonly templates: Map<string, { readonly name: string }>;
}
type Client = (copy: Copy, hub: string, key: string) => Promise<void>;

const load = async (code: string): Promise<Client> =>
  new Function(`${code.replace('export async function', 'return async function')}`)() as Client;

const world = await startWorld();
const organization = await world.anOrganization();
let server: Server;
let hub: string;
beforeAll(async () => {
  server = createServer(world.app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A listening TCP server has an AddressInfo.
  hub = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await world.stop();
});

test('docs/sync.md contains two example clients', () => expect(examples).toHaveLength(2));

test.each(examples.map((code, index) => [index === 0 ? 'simple' : 'paging', code]))(
  'the %s example client keeps its copy up to date',
  async (_, code) => {
    const sync = await load(code);
    const copy: Copy = { templates: new Map() };
    const category = await world.aCategory({ is_private: true });
    const names = () => [...copy.templates.values()].map(({ name }) => name).sort();
    const synced = async () => {
      await sync(copy, hub, organization.key);
      return names();
    };
    const listed = async () => {
      const { body } = await world.as(organization).get('/api/v1/catalog/templates?limit=100');
      return (body.templates as { readonly name: string }[]).map(({ name }) => name).sort();
    };
    const kept = await world.aTemplate();
    const hidden = await world.aTemplate();
    await world.aTemplate({ category_id: category.id });
    expect(await synced()).toEqual(await listed());

    await writeCatalog(world.database, async ({ template }) => {
      await template.update({ where: { id: hidden.id }, data: { is_public: false } });
      await template.update({ where: { id: kept.id }, data: { name: `${kept.name} renamed` } });
    });
    await world.aGrant(organization, category);
    expect(await synced()).toEqual(await listed());
    expect(names()).toContain(`${kept.name} renamed`);
    expect(names()).not.toContain(hidden.name);

    await expect(sync(copy, hub, `${organization.key.slice(0, -1)}?`)).rejects.toThrow(/answered 40/);
    expect(await synced()).toEqual(await listed());
  },
);
