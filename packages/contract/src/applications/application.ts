import { z } from 'zod';
import { timestamp } from '../shared/timestamp.ts';
import { id, ignored, objectVersion, slug, storedName, uuid } from '../shared/wire.ts';
import { adviceFields, adviceReply, changeMessage, refuseStatusProblems } from '../template/advice.ts';
import {
  catalogMembers,
  newTemplateFields,
  readOnly,
  templateChangeFields,
  templateReply,
} from '../template/fields.ts';
import { refuseOldValues, warnings } from '../template/new-values.ts';
import { newSignatures, signaturesReply } from '../template/signatures.ts';
import { refuseApplicationProblems } from './checks.ts';
import { generatedValueReply, inputReply, newGenerated, newInputs } from './inputs.ts';
import { newParts, partReply } from './parts.ts';

type CatalogMember = (typeof catalogMembers)[number];

/** The part of a table of members that describes an object in the catalog. */
const catalogPart = <T extends Record<CatalogMember, unknown>>(table: T) =>
  // fromEntries loses which key has which value.
  Object.fromEntries(catalogMembers.map((member) => [member, table[member]])) as Pick<T, CatalogMember>;

/** What an application consists of, without its description in the catalog. */
const specMembers = {
  inputs: newInputs.default([]).meta({ description: 'What a person enters when the application is deployed' }),
  generated: newGenerated.default([]).meta({ description: 'Secret values that the fleet generates once' }),
  parts: newParts.meta({ description: 'Its containers' }),
};

/** What an application consists of, in a request that has no application of the catalog. */
export const newApplicationSpec = z
  .strictObject(specMembers)
  .check(refuseApplicationProblems)
  .meta({ id: 'NewApplicationSpec' });

const specReply = {
  inputs: z.array(inputReply).prefault([]),
  generated: z.array(generatedValueReply).prefault([]),
  parts: z.array(partReply),
};

/** The members that specify what runs. A publisher signs them, and the hub cannot change them. */
export const applicationSpecMembers: readonly string[] = Object.keys(specReply);

/** What an application consists of. A reader accepts values that only a newer service allows. */
export const applicationSpec = z.object(specReply).meta({ id: 'ApplicationSpec' });
export type ApplicationSpec = z.output<typeof applicationSpec>;

const catalogReply = catalogPart(templateReply);
const { id: itsId, name, slug: itsSlug, category_id, category_name, category_slug, category_icon } = templateReply;

const { status, status_message, replacement } = adviceReply;

/** An application, as callers see it. */
export const application = z
  .object({
    id: itsId,
    name,
    slug: itsSlug,
    category_id,
    category_name,
    category_slug,
    category_icon,
    ...catalogReply,
    ...specReply,
    download_count: templateReply.download_count,
    ...adviceReply,
    signatures: signaturesReply,
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'Application', description: 'Several containers that are deployed as one object' });
export type Application = z.output<typeof application>;

/** An application, as administrators see it. */
export const ownedApplication = application
  .extend({ owner_org_id: id.nullable(), resource_version: objectVersion, warnings })
  .meta({ id: 'OwnedApplication' });

/** The content of an application: what its publisher writes, and its revisions contain. */
export const applicationContent = application
  .pick({ name: true, slug: true, category_id: true, inputs: true, generated: true, parts: true })
  .extend({ ...catalogReply, owner_org_id: id.nullable() })
  .meta({ id: 'ApplicationContent' });
export type ApplicationContent = z.output<typeof applicationContent>;

/** What a catalog file states, with defaults for what it leaves out. */
export const applicationInForm = applicationContent
  .extend({
    status,
    status_message,
    replacement,
    slug: z.string().meta({ description: '`""`: it derives from the name' }),
    category_id: id.nullable().meta({ description: 'null: the hub has no category with this slug' }),
    owner_org_id: id.nullable().meta({ description: 'null: no owner, or the hub has no organization with this slug' }),
  })
  .meta({ id: 'ApplicationInForm' });

const example = {
  name: 'Wiki',
  category_id: '0190c5a0-0000-7000-8000-000000000000',
  generated: [{ name: 'password' }],
  parts: [
    {
      name: 'database',
      image_name: 'library/postgres',
      image_tag: '17',
      ports: [{ containerPort: 5432 }],
      env: [{ name: 'POSTGRES_PASSWORD', value: `\${generated.password}` }],
    },
    {
      name: 'web',
      image_name: 'library/wiki',
      image_tag: '2',
      needs: [{ part: 'database' }],
      ports: [{ containerPort: 8080, publish: true }],
      env: [
        {
          name: 'DATABASE',
          value: `postgres://postgres:\${generated.password|url}@\${parts.database.address.5432}/wiki`,
        },
      ],
    },
  ],
};

const described = {
  name: storedName,
  slug: slug.optional(),
  category_id: uuid,
  ...catalogPart(newTemplateFields),
  ...specMembers,
  owner_org_id: uuid.nullable().default(null),
};

/** The rules for the content of an application that is written again. */
export const restoredApplication = z.strictObject(described).check(refuseOldValues).check(refuseApplicationProblems);

/** An application in a catalog file. */
export const applicationInFile = z
  .strictObject({ ...described, ...adviceFields, ...ignored('id'), ...readOnly })
  .check(refuseStatusProblems)
  .check(refuseOldValues)
  .check(refuseApplicationProblems);

/** A new application. Only `name`, `category_id` and `parts` are required. The default slug derives from the name. */
export const newApplication = z
  .strictObject({
    ...described,
    ...adviceFields,
    signatures: newSignatures.default([]),
    message: changeMessage,
    ...ignored('id'),
    ...readOnly,
  })
  .check(refuseStatusProblems)
  .check(refuseOldValues)
  .check(refuseApplicationProblems)
  .meta({ id: 'NewApplication', examples: [example] });

/**
 * A change of an application. Members that are left out do not change, and lists are replaced as a whole.
 * `applicationProblems` examines the result. `id` can be in the query instead.
 */
export const applicationChange = z
  .strictObject({
    id: uuid.optional(),
    name: storedName.optional(),
    slug: slug.optional(),
    category_id: uuid.optional(),
    ...catalogPart(templateChangeFields),
    inputs: newInputs.optional(),
    generated: newGenerated.optional(),
    parts: newParts.optional(),
    owner_org_id: uuid.nullable().optional(),
    ...adviceFields,
    signatures: newSignatures.optional(),
    message: changeMessage,
    ...readOnly,
  })
  .check(refuseOldValues)
  .meta({ id: 'ApplicationChange', examples: [{ parts: example.parts }] });

/** How much of each application a list contains. */
export const applicationView = z
  .enum(['full', 'summary'], 'must be full or summary')
  .default('full')
  .meta({ description: '`summary`: `documentation`, `inputs`, `generated`, `parts` and `signatures` are empty' });
