import { storedValueProblems } from '@svc/contract';
import { hubEndpoints } from '@svc/contract/hub';
import { readTemplateFile as readFile } from '../../../catalog/files/template-file.ts';
import { objectIn, referencesOf } from '../../request/catalog-file.ts';
import { route } from '../../request/context.ts';

export const readTemplateFile = route(
  hubEndpoints.readTemplateFile,
  async ({ database: { client } }, { body: { yaml } }) => {
    const file = objectIn(yaml, readFile);
    const { references, warnings } = await referencesOf(client, file);
    return { template: { ...file, ...references }, warnings: [...storedValueProblems(file), ...warnings] };
  },
);
