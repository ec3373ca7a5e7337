// Calls every tool with generated arguments.
import { type Endpoint, problems, type Tool } from '@svc/contract';
import { fleetTools } from '@svc/contract/fleet';
import { byDepth, seed } from '@svc/testing';
import { hostileInput } from '@svc/testing/hostile';
import fc from 'fast-check';
import { z } from 'zod';
import { aTemplate } from '../a-template.ts';
import { codeOf, type ToolResult } from './client.ts';
import { startMcpWorld } from './world.ts';

const { request, world, aHost, deployed, publish, stored } = await startMcpWorld();
const template = aTemplate();
const token = (await world.aToken({ role: 'admin' })).secret;

/** Number of generated calls per tool. */
const CALLS = byDepth({ short: 3, full: 200, long: 2000 });
/** A wait with valid arguments lasts a second, so that there are fewer of them. */
const WAITS = 20;

/** The arguments of a tool with the schemas of the endpoint that validates them. */
function argumentsOf({ arguments: declared, calls }: Tool): z.ZodObject {
  const { shape } = declared as unknown as z.ZodObject; // as `tool` declares it
  const [{ params, query, body }] = calls as readonly [Endpoint];
  const known = Object.assign(
    {},
    ...[params, query, body].map((part) => (part instanceof z.ZodObject ? part.shape : {})),
  );
  return z.object(Object.fromEntries(Object.keys(shape).map((name) => [name, known[name] ?? shape[name]])));
}

const rows = async () => {
  const { id, name, workload_id } = await deployed({ desired_state: 'stopped' });
  return {
    id: [id],
    deployment: [id, name],
    workload_id: [workload_id],
    deployment_id: [id],
    confirm: [name],
    slug: [template.slug],
    template: [template.slug],
    timeout_seconds: [1],
    version: [1],
  };
};
beforeAll(async () => {
  await publish(template);
  await aHost();
});

const tools = Object.entries<Tool>(fleetTools);

test.each(tools.map(([name, tool], index) => ({ name, tool, index })))(
  '$name responds to hostile arguments',
  async ({ name, tool, index }) => {
    const given = hostileInput(argumentsOf(tool), await rows(), seed + index);
    const property = fc.asyncProperty(given, async (input) => {
      const hasTime = name === 'wait_for_deployment' && typeof input === 'object' ? { timeout_seconds: 1 } : {};
      const before = await stored();
      const params = { name, arguments: typeof input === 'object' ? { ...input, ...hasTime } : input };
      const { status, message, text } = await request('tools/call', params, { token });
      expect(status).toBeLessThan(500);
      expect(text).toEqual(text);
      const result: ToolResult | undefined = message.result;
      if (result && !result.isError) return;
      expect(await stored()).toEqual(before);
      if (status === 413) expect(message).toMatchObject({ code: 'payload_too_large' });
      else if (!result)
        expect(message.error.code).toBe(-32_602); // the arguments are no object
      else expect(problems[codeOf(result) as keyof typeof problems].status).toBeLessThan(500);
    });
    const numRuns = name === 'wait_for_deployment' ? Math.ceil(CALLS / WAITS) : CALLS;
    await fc.assert(property, { seed: seed + index, numRuns, endOnFailure: true });
  },
  30_000 + 100 * CALLS,
);
