namespace ActOp.Simulation.Mutations;

/// <summary>A small change of the source that the simulator must notice.</summary>
/// <param name="Number">Switches it on.</param>
/// <param name="Name">What is wrong then.</param>
/// <param name="File">Below src.</param>
/// <param name="Passage">Stands once in the file.</param>
/// <param name="Mutant">What stands there instead; PLANTED is true when the mutation is on.</param>
/// <param name="Oracles">The rules that may notice it, separated by commas.</param>
/// <param name="Budget">Seeds within which one of them must.</param>
internal sealed record Mutation(int Number, string Name, string File, string Passage, string Mutant, string Oracles, int Budget);

/// <summary>The mutations. A passage that has changed makes its row fail: then the row is brought up to date with the source.</summary>
internal static class Table
{
    internal static readonly Mutation[] All =
    [
        new(1, "In a rebuilt slot the oldest registration wins", "ActOp.Runtime/Directory/DirectoryPartition.Transfers.cs",
            "? one.Epoch > other.Epoch", "? (PLANTED ? one.Epoch < other.Epoch : one.Epoch > other.Epoch)", "two lives,forgotten,carried,directory,log", 400),
        new(2, "The directory registers a second activation of a grain", "ActOp.Runtime/Directory/DirectoryPartition.cs",
            "if (!takesOver && found.Status != DirectoryStatus.NotFound)", "if (!PLANTED && !takesOver && found.Status != DirectoryStatus.NotFound)", "two lives,directory,turn after the end", 20),
        new(3, "Whoever ends takes away whatever is registered", "ActOp.Runtime/Directory/DirectoryPartition.cs",
            "!slot.Entries.TryGetValue(grain, out var entry) || !entry.Activation.Equals(activation))", "!slot.Entries.TryGetValue(grain, out var entry) || (!PLANTED && !entry.Activation.Equals(activation)))", "two lives,forgotten,directory", 200),
        new(4, "A new owner serves a slot before it has what was in it", "ActOp.Runtime/Directory/DirectoryPartition.Views.cs",
            "        slot.State = SlotState.Waiting;\n", "        slot.State = SlotState.Waiting;\n        if (PLANTED)\n        {\n            slot.Serve(view.Number);\n            return;\n        }\n\n", "two lives,directory", 20),
        new(5, "Turns go on without a lease", "ActOp.Runtime/Activations/Activation.Mailbox.cs",
            "(Node.Lease.IsClosed && Class.IsOrdinary", "(!PLANTED && Node.Lease.IsClosed && Class.IsOrdinary", "two lives", 400),
        new(6, "Nobody waits for the lease of a silo that died in silence", "ActOp.Runtime/Directory/DirectoryLimits.cs",
            "_ => SilentLease,", "_ => PLANTED ? 0 : SilentLease,", "two lives", 400),
        new(7, "A grain that arrives does not take its state", "ActOp.Runtime/Activations/Beginning.cs",
            "                participant.OnRehydrate(carried);\n", "                if (!PLANTED)\n                    participant.OnRehydrate(carried);\n", "forgotten,carried", 20),
        new(8, "Timers outlive their activation", "ActOp.Runtime/Activations/Activation.Lifecycle.cs",
            "            timer.Dispose();\n", "        {\n            if (!PLANTED)\n                timer.Dispose();\n        }\n", "late tick,turn after the end,mailbox", 50),
        new(9, "Nobody looks at deadlines", "ActOp.Runtime/Hosting/Node.Life.cs",
            "Sweep.EndExpired(now)", "(PLANTED ? 0 : Sweep.EndExpired(now))", "unanswered,slots,unserved,unsettled,mailbox", 100),
        new(10, "A full connection is not written to again", "ActOp.Mesh/Poller.cs",
            "            link.BecameWritable();\n", "            if (!PLANTED)\n                link.BecameWritable();\n", "unanswered,unserved,unsettled,start", 100),
        new(11, "One frame in two hundred is sent twice", "ActOp.Runtime/Routing/Messages.cs",
            "        var sent = node.Peers.Send(target, id, scratch.Buffer.Written);\n", "        if (PLANTED && call.Version % 200 == 7)\n            node.Peers.Send(target, id, scratch.Buffer.Written);\n        var sent = node.Peers.Send(target, id, scratch.Buffer.Written);\n", "twice", 20),
        new(12, "A closed link stays in the table of links", "ActOp.Mesh/MeshNode.Handshakes.cs",
            "known = _links.Remove(link);", "known = PLANTED ? _links.Contains(link) : _links.Remove(link);", "links", 50),
    ];
}
