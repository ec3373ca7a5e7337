import type { fleetTools } from '@svc/contract/fleet';
import type { ToolHandlers } from '@svc/mcp';

export type Handlers = ToolHandlers<typeof fleetTools>;
