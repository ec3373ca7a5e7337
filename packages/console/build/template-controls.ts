import { templateControls } from '@svc/contract';
import type { Plugin } from 'vite';

const ID = 'virtual:template-controls';

/**
 * What the contract declares for the forms of templates, without the schemas, which browsers do not
 * load.
 */
export const templateControlTable = (): Plugin => ({
  name: 'template-controls',
  resolveId: (id) => (id === ID ? `\0${id}` : undefined),
  load: (id) => (id === `\0${ID}` ? `export default ${JSON.stringify(templateControls)};` : undefined),
});
