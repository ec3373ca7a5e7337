import { describe } from '@jest/globals';
import { readKubeconfig, type TestCluster } from './kubeconfig.ts';

export { readKubeconfig, type TestCluster } from './kubeconfig.ts';

/**
 * Tests that need a real cluster: that of the kubeconfig in `FLEET_TEST_KUBECONFIG`, in which they
 * use their own namespace. If the variable is not set, they are skipped, with the reason in their
 * title. An invalid file makes them fail.
 */
export function describeWithCluster(title: string, tests: (cluster: () => TestCluster) => void): void {
  const file = process.env.FLEET_TEST_KUBECONFIG;
  if (file) describe(title, () => tests(() => readKubeconfig(file)));
  else describe.skip(`${title} (skipped: FLEET_TEST_KUBECONFIG is not set)`, () => tests(noCluster));
}

const noCluster = () => {
  throw new Error('there is no cluster');
};
