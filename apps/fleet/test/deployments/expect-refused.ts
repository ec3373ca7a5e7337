import { type Body, type DeploymentWorld, reasonsOf } from './world.ts';

/**
 * Expects that a deployment is rejected with the code, that its plan states the same reasons, and
 * that neither stores anything. @returns the reasons
 */
export const expectRefusedIn = (fleet: DeploymentWorld) => async (body: Body, code: string) => {
  const before = await fleet.contents();
  const plan = await fleet.plan(body);
  const answer = await fleet.deploy(body);
  expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 422, code });
  expect({ status: plan.status, ...plan.body }).toMatchObject({ status: 200, ok: false, manifest: [], changes: [] });
  const codes = new Set(plan.body.refusals.map((refusal: { code: string }) => refusal.code));
  if (codes.size === 1) expect([...codes]).toEqual([code]);
  else expect(code).toBe('deployment_refused');
  expect(reasonsOf(answer)).toEqual(reasonsOf(plan));
  expect(await fleet.contents()).toEqual(before);
  return reasonsOf(answer);
};

/** A field error at the path whose message contains the words in this order. */
export const fieldError = (path: string, ...words: string[]) => ({
  path,
  message: expect.stringMatching(new RegExp(words.join('.*'))),
});
