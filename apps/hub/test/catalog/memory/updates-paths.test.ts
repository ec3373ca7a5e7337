// A replica that answers from memory sends the same bytes as one that reads the changes from the
// database.
import { byDepth, figure, seed } from '@svc/testing';
import fc from 'fast-check';
import { callers, stampOf } from '../../sync/model/catalog.ts';
import { initialStates, write } from '../../sync/model/generated.ts';
import { beginHistory, commit } from '../../sync/model/history.ts';
import { aHub } from '../../sync/model/hub.ts';

const HISTORIES = byDepth({ short: 2, full: 10, long: 600 });

const hub = await aHub();
const inSnapshot = jest.spyOn(hub.reader, 'inSnapshot');
afterAll(() => hub.stop());

/**
 * Most commits only edit templates, so that memory has the answers. Commits of a round reach the
 * index together.
 */
const edit = fc.record({ kind: fc.constant('edit' as const), slot: fc.nat(7), text: fc.nat(9) });
const writes = fc.oneof(
  { weight: 3, arbitrary: fc.array(edit, { minLength: 1, maxLength: 3 }) },
  { weight: 1, arbitrary: fc.array(write, { minLength: 1, maxLength: 3 }) },
);
const rounds = fc.array(fc.array(writes, { minLength: 1, maxLength: 3 }), { minLength: 2, maxLength: 5 });

test(
  'after any history',
  async () => {
    const found = { fromMemory: 0, templates: 0 };
    const property = fc.asyncProperty(initialStates, rounds, async (initialState, history) => {
      const run = await beginHistory(hub, initialState);
      const cursors = new Map<unknown, readonly string[]>();
      for (const commits of history) {
        for (const one of commits) await commit(run, hub, one);
        const other = hub.aReplica();
        // Its index has no earlier changes.
        await other.updates('anonymous', 'since=2999-01-01T00:00:00Z');
        for (const caller of callers) {
          const known = cursors.get(caller) ?? [];
          const stamps = [0, 1, 2, 4].map((back) => new Date(stampOf(run.state, back)).toISOString());
          const queries = [...stamps.map((at) => `since=${at}`), ...known.map((cursor) => `cursor=${cursor}&limit=2`)];
          for (const query of queries) {
            inSnapshot.mockClear();
            const { status, text, body, headers } = await hub.updates(caller, query);
            if (inSnapshot.mock.calls.length === 0) {
              found.fromMemory += 1;
              found.templates += body.templates.length;
            }
            const expected = await other.updates(caller, query);
            expect({ query, status, text, etag: headers.etag }).toEqual({
              query,
              status: 200,
              text: expected.text,
              etag: expected.headers.etag,
            });
          }
          const { body } = await hub.updates(caller, 'since=2999-01-01T00:00:00Z');
          cursors.set(caller, [...known.slice(-1), body.cursor]);
        }
        await other.stop();
      }
    });
    await fc.assert(property, { seed, numRuns: HISTORIES });
    figure(`${found.fromMemory} responses from memory with ${found.templates} templates`);
    expect(found.templates).toBeGreaterThan(HISTORIES);
  },
  60_000 + HISTORIES * 15_000,
);
