/** The hosts that scopes may move to from here. */
import { type Mover, Refused } from "@pawl/runtime";
import { Client, moverOver } from "@pawl/wire";
import type { Peer } from "./config.ts";
import { textIn } from "./secret.ts";

export interface Peers {
  readonly mover: (to: string) => Mover;
  readonly close: () => void;
}

/** A token is read anew for each connection, so that it may be renewed in its file. */
export const peersOf = (peers: readonly Peer[]): Peers => {
  const clients = new Map<string, Client>();
  const clientTo = (to: string): Client => {
    const peer = peers.find(({ url }) => url === to);
    if (peer === undefined) throw new Refused("peer_unknown", `${to} is not among the peers of this host`);
    const client =
      clients.get(to) ?? new Client({ url: to, token: () => textIn(peer.token_file).toString("utf8").trim() });
    clients.set(to, client);
    return client;
  };
  return {
    mover: (to) => moverOver(clientTo(to)),
    close: () => {
      for (const client of clients.values()) client.close();
    },
  };
};
