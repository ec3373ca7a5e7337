import { stringify } from 'yaml';
import type { Application } from './application.ts';

/** An application as a YAML document. */
export const applicationYaml = (application: Application): string => stringify(application, { lineWidth: 0 });
