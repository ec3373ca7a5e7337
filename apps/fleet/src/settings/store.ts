import { z } from 'zod';
import type { Prisma } from '../generated/prisma/client.ts';
import type { Sealer } from '../sealing.ts';

export type SettingName = 'oidc' | 'hub';

/** A secret, and the address that it was given for: it never goes to another one. `null`: there is none for it. */
const secret = z.object({ value: z.string().nullable(), address: z.string() });
export type StoredSecret = z.output<typeof secret>;

/** What was set while the fleet ran. */
export interface Stored<V extends object> {
  readonly values: Partial<V>;
  readonly secret: StoredSecret | undefined;
}

type Client = Pick<Prisma.TransactionClient, 'setting'>;

export async function readStored<V extends object>(
  client: Client,
  sealer: Sealer,
  name: SettingName,
): Promise<Stored<V>> {
  const row = await client.setting.findUnique({ where: { name } });
  if (!row) return { values: {}, secret: undefined };
  const opened = row.sealed === null ? undefined : await sealer.open(placeOf(name), row.sealed);
  return {
    values: row.values as Partial<V>, // written below, by a body that its contract let in
    secret: opened === undefined ? undefined : secret.parse(JSON.parse(opened)),
  };
}

export async function writeStored<V extends object>(
  client: Client,
  sealer: Sealer,
  { name, values, secret: given }: Stored<V> & { readonly name: SettingName },
): Promise<void> {
  const sealed = given === undefined ? null : await sealer.seal(placeOf(name), JSON.stringify(given));
  const data = {
    values: values as Prisma.InputJsonObject,
    sealed,
    sealed_with: sealed && sealer.kid,
    updated_at: new Date(),
  };
  await client.setting.upsert({ where: { name }, create: { name, ...data }, update: data });
}

export const forgetStored = async (client: Client, name: SettingName): Promise<void> => {
  await client.setting.deleteMany({ where: { name } });
};

export const placeOf = (name: SettingName) => ({ table: 'settings', column: 'sealed', row: name });
