import { describe } from '@jest/globals';
import { readKubeconfig, type TestCluster } from './cluster/kubeconfig.ts';

export { readKubeconfig, type TestCluster } from './cluster/kubeconfig.ts';

/**
 * Tests that need a real cluster: the one that the file in `FLEET_TEST_KUBECONFIG` names, where they work in a namespace
 * of their own. Where none is named they are skipped, with the reason in their title; what is wrong with the file fails.
 */
export function describeWithCluster(title: string, tests: (cluster: () => TestCluster) => void): void {
  const file = process.env.FLEET_TEST_KUBECONFIG;
  if (file) describe(title, () => tests(() => readKubeconfig(file)));
  else describe.skip(`${title} (skipped: FLEET_TEST_KUBECONFIG names no cluster)`, () => tests(noCluster));
}

const noCluster = () => {
  throw new Error('there is no cluster');
};
