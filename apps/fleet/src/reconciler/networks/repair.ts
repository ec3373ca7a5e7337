import type { Database } from '../../database/client.ts';
import { restartForAddress } from '../../deployments/addresses/dependents.ts';
import type { Candidates } from '../../deployments/candidates.ts';
import { readAddresses, readTakenSubnets } from '../../deployments/networks/decide.ts';
import type { NetworkFailure } from '../../engines/errors.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { THE_FLEET } from '../../identity/principal.ts';
import {
  addressNumber,
  addressText,
  freeAddresses,
  freeSubnet,
  movedAddress,
  subnetOf,
  subnetText,
} from '../../placement/subnets.ts';
import { acquirePlacementLock } from '../../resources/placement-lock.ts';
import type { Claim } from '../queue.ts';

type Transaction = Prisma.TransactionClient;

interface Repair extends Pick<NetworkFailure, 'problem' | 'network' | 'subnet'> {
  /** The ordinals of the instances that do not run. */
  readonly down: readonly number[];
}

interface Context {
  readonly database: Database;
  readonly candidates: Candidates;
}

/**
 * Repairs what prevents the containers of a deployment from being in their network. A subnet that the engine refuses is
 * replaced by the next free one. If the network has another subnet than the database, which was restored or changed by two
 * workers, that of the engine counts. A network that is lost is created again by the next pass, and the containers of all
 * its deployments are replaced. An address that something else has is replaced by another one.
 */
export async function repairNetwork({ database, candidates }: Context, claim: Claim, repair: Repair): Promise<void> {
  const { id, owner } = claim;
  await database.client.$transaction(async (transaction) => {
    await acquirePlacementLock(transaction);
    const deployment = await transaction.deployment.findFirst({ where: { id, lease_owner: owner } });
    if (!deployment) return;
    if (repair.problem === 'address_taken') {
      await replaceAddresses(transaction, id, repair.down);
      return restartForAddress({ transaction, principal: THE_FLEET }, deployment);
    }
    const members =
      repair.problem === 'lost'
        ? await forgetNetwork(transaction, repair.network)
        : await replaceSubnet(transaction, repair, candidates);
    for (const member of members) await restartForAddress({ transaction, principal: THE_FLEET }, member);
  });
}

type Member = { readonly id: string; readonly name: string };

/** The deployments with addresses in a network are due. @returns them */
const makeDue = (transaction: Transaction, networkId: string): Promise<Member[]> =>
  transaction.$queryRaw<Member[]>`
    UPDATE deployments SET due_at = now()
    WHERE id IN (SELECT deployment_id FROM network_addresses WHERE network_id = ${networkId}::uuid) RETURNING id, name`;

/** The next pass creates the network, and replaces containers that were created for the lost one. */
async function forgetNetwork(transaction: Transaction, id: string): Promise<readonly Member[]> {
  const { count } = await transaction.network.updateMany({
    where: { id, isolation: { not: null } },
    data: { isolation: null, losses: { increment: 1 } },
  });
  return count === 0 ? [] : makeDue(transaction, id);
}

/**
 * Gives a network the next free subnet of the same size, or the one that it has on the engine, with each address at the same
 * place. Nothing changes if another worker has replaced the refused one.
 */
async function replaceSubnet(
  transaction: Transaction,
  { problem, network: id, subnet = '' }: Repair,
  { networkPool }: Candidates,
): Promise<readonly Member[]> {
  const [network] = await transaction.$queryRaw<Stored[]>`
    SELECT host_id, application_id, subnet::text AS subnet FROM networks WHERE id = ${id}::uuid`;
  if (!network) return [];
  const { host_id, application_id: applicationId } = network;
  const from = subnetOf(network.subnet);
  const isRefused = problem === 'subnet_refused';
  if (isRefused && network.subnet !== subnet) return [];
  const taken = async () => readTakenSubnets(transaction, host_id);
  const to = isRefused
    ? freeSubnet(networkPool, { applicationId, prefix: from.prefix }, await taken())
    : subnetOf(subnet);
  if (!to || to.prefix !== from.prefix) return []; // no other one is free: retry with the same one
  if (isRefused)
    await transaction.$executeRaw`
    UPDATE hosts SET refused_subnets = array_append(refused_subnets, ${network.subnet})
    WHERE id = ${host_id}::uuid AND NOT refused_subnets @> ARRAY[${network.subnet}]`;
  const moved = (await readAddresses(transaction, id)).map(({ address }) => ({
    address,
    next: movedAddress(address, from, to),
  }));
  await transaction.$executeRaw`
    UPDATE networks SET subnet = ${subnetText(to)}::inet, isolation = NULL, former_names = '{}' WHERE id = ${id}::uuid`;
  await transaction.$executeRaw`
    UPDATE network_addresses a SET address = moved.next
    FROM jsonb_to_recordset(${JSON.stringify(moved)}::jsonb) AS moved (address inet, next inet)
    WHERE a.network_id = ${id}::uuid AND a.address = moved.address`;
  return makeDue(transaction, id);
}

interface Stored {
  readonly host_id: string;
  readonly application_id: string | null;
  readonly subnet: string;
}

/** Gives instances the next free addresses of their networks. */
async function replaceAddresses(transaction: Transaction, deploymentId: string, ordinals: readonly number[]) {
  const taken = await transaction.networkAddress.findMany({
    where: { deployment_id: deploymentId, ordinal: { in: [...ordinals] } },
    include: { network: true },
  });
  for (const { network_id, address, ordinal, network } of taken) {
    const all = async () =>
      new Set((await readAddresses(transaction, network_id)).flatMap((each) => addressNumber(each.address) ?? []));
    const last = Math.max(...(await all()));
    const [next] = await freeAddresses(subnetOf(network.subnet), 1, { last, taken: all });
    if (next === undefined) continue; // no other address is free: retry with the same one
    await transaction.$executeRaw`
      UPDATE network_addresses SET address = ${addressText(next)}::inet
      WHERE network_id = ${network_id}::uuid AND deployment_id = ${deploymentId}::uuid AND ordinal = ${ordinal} AND address = ${address}::inet`;
    // The hosts files of the others have the address.
    if (network.application_id !== null) await makeDue(transaction, network_id);
  }
}
