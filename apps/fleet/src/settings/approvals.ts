import { type ApprovalLevel, approvalLevels } from '@svc/contract/fleet';
import { z } from 'zod';
import type { Prisma } from '../generated/prisma/client.ts';

type Client = Pick<Prisma.TransactionClient, 'setting'>;

const stored = z.object({ approval: z.enum(approvalLevels) });
const NAME = 'approvals';

/** Which plans need the approval of a person, whoever makes them. */
export async function readApproval({ setting }: Client): Promise<ApprovalLevel> {
  const row = await setting.findUnique({ where: { name: NAME } });
  return row === null ? 'none' : stored.parse(row.values).approval;
}

export async function writeApproval({ setting }: Client, approval: ApprovalLevel): Promise<void> {
  const data = { values: { approval }, updated_at: new Date() };
  await setting.upsert({ where: { name: NAME }, create: { name: NAME, ...data }, update: data });
}
