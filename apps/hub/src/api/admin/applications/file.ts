import { lintApplication } from '@svc/contract';
import { hubEndpoints } from '@svc/contract/hub';
import { readApplicationFile as readFile } from '../../../catalog/files/template-file.ts';
import { objectIn, referencesOf } from '../../request/catalog-file.ts';
import { route } from '../../request/context.ts';

export const readApplicationFile = route(
  hubEndpoints.readApplicationFile,
  async ({ database: { client } }, { body: { yaml } }) => {
    const file = objectIn(yaml, readFile);
    const { references, warnings } = await referencesOf(client, file);
    return { application: { ...file, ...references }, warnings: [...lintApplication(file), ...warnings] };
  },
);
