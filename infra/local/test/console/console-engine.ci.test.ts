import { afterAll, beforeAll } from '@jest/globals';
import { describeWithBrowser } from '@svc/testing/browser';
import { describeWithEngine, startEngine, type TestEngine } from '@svc/testing/engine';
import { testCatalogApplications } from './catalog-applications.ts';
import { type ConsoleWorld, startConsoleWorld } from './console-world.ts';
import { testConversion } from './conversion.ts';
import { testDeployment, testFleetFlows } from './fleet-flows.ts';
import { testGeneratedValues } from './generated-values.ts';
import { testUpdates } from './updates.ts';

describeWithBrowser('the console of the fleet in a browser, with an engine', () => {
  describeWithEngine('that runs containers', () => {
    let world: ConsoleWorld;
    let engine: TestEngine;
    beforeAll(async () => {
      engine = await startEngine();
      world = await startConsoleWorld(engine.endpoint);
    });
    afterAll(async () => {
      await world?.stop();
      await engine?.stop();
    });

    const withEngine = () => ({ world, engine });
    testFleetFlows(withEngine);
    testDeployment(withEngine);
    testGeneratedValues(withEngine);
    testConversion(withEngine);
    testCatalogApplications(withEngine);
    testUpdates(withEngine);
  });
});
