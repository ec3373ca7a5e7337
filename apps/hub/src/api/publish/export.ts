import { setImmediate } from 'node:timers/promises';
import { hubEndpoints } from '@svc/contract/hub';
import { formatYaml } from '@svc/documents';
import { changesOfFiles, NO_FILES, readCatalogRows, signaturesIn } from '../../catalog/files/export.ts';
import { route } from '../request/context.ts';
import { extentOf, inTurn } from './publisher.ts';

export const exportCatalog = route(hubEndpoints.exportCatalog, (context) =>
  inTurn(context, async () => {
    const rows = await readCatalogRows(context.database, extentOf(context.principal));
    const files: { path: string; content: string }[] = [];
    for (const { file, content } of changesOfFiles(rows, NO_FILES, false)) {
      await setImmediate(); // other work of the process runs between two files
      files.push({ path: file, content: formatYaml(content) });
    }
    const { templates: signatures, applications: application_signatures } = signaturesIn(rows);
    return { files, signatures, application_signatures };
  }),
);
