using ActOp.Simulation.World;

namespace ActOp.Simulation.Mutations;

/// <summary>A small change of the source that the simulator must notice.</summary>
/// <param name="Number">Switches it on.</param>
/// <param name="Name">What is wrong then.</param>
/// <param name="File">Below src.</param>
/// <param name="Passage">Stands once in the file.</param>
/// <param name="Mutant">What stands there instead; PLANTED is true when the mutation is on.</param>
/// <param name="Budget">Seeds, from the first on, within which it must be noticed.</param>
/// <param name="Theme">Of these seeds.</param>
internal sealed record Mutation(int Number, string Name, string File, string Passage, string Mutant, int Budget, Theme Theme = Theme.Any);

/// <summary>The mutations. A passage that has changed makes its row fail: then the row is brought up to date with the source.</summary>
internal static class Table
{
    private const string Activations = "ActOp.Runtime/Activations/";
    private const string Directory = "ActOp.Runtime/Directory/";
    private const string Hosting = "ActOp.Runtime/Hosting/";
    private const string Locality = "ActOp.Runtime/Locality/";
    private const string Routing = "ActOp.Runtime/Routing/";

    internal static readonly Mutation[] All =
    [
        new(1, "In a rebuilt slot the oldest registration wins", Directory + "DirectoryPartition.Transfers.cs",
            "? one.Epoch > other.Epoch", "? (PLANTED ? one.Epoch < other.Epoch : one.Epoch > other.Epoch)", 100, Theme.Moves),
        new(2, "The directory registers a second activation", Directory + "DirectoryPartition.cs",
            "if (!takesOver && found.Status != DirectoryStatus.NotFound)", "if (!PLANTED && !takesOver && found.Status != DirectoryStatus.NotFound)", 20),
        new(3, "Only some registrations of a slot are handed over", Directory + "DirectoryPartition.Transfers.cs",
            "                    entries.Add(new Registration(grain, location));\n", "                    if (!PLANTED || entries.Count < 3)\n                        entries.Add(new Registration(grain, location));\n", 20),
        new(4, "A new owner serves a slot before it has what was in it", Directory + "DirectoryPartition.Views.cs",
            "        slot.State = SlotState.Waiting;\n", "        slot.State = SlotState.Waiting;\n        if (PLANTED)\n        {\n            slot.Serve(view.Number);\n            return;\n        }\n\n", 20),
        new(5, "Turns go on without a lease", Activations + "Activation.Mailbox.cs",
            "(Node.Lease.IsClosed && Class.IsOrdinary", "(!PLANTED && Node.Lease.IsClosed && Class.IsOrdinary", 20, Theme.Lease),
        new(6, "Nobody waits for the lease of a silo that died in silence", Directory + "DirectoryLimits.cs",
            "_ => SilentLease,", "_ => PLANTED ? 0 : SilentLease,", 20, Theme.Lease),
        new(7, "A grain that arrives does not take its state", Activations + "Beginning.cs",
            "                participant.OnRehydrate(carried);\n", "                if (!PLANTED)\n                    participant.OnRehydrate(carried);\n", 20),
        new(8, "Requests that wait are forgotten with their activation", Activations + "Activation.Lifecycle.cs",
            "        while (TakeWaiting() is { } call)\n            SendOn(call);\n", "        while (TakeWaiting() is { } call)\n        {\n            if (!PLANTED)\n                SendOn(call);\n        }\n", 60),
        new(9, "Nobody looks at deadlines", Hosting + "Node.Life.cs",
            "Sweep.EndExpired(now)", "(PLANTED ? 0 : Sweep.EndExpired(now))", 20),
        new(10, "A full connection is not written to again", "ActOp.Mesh/Poller.cs",
            "            link.BecameWritable();\n", "            if (!PLANTED)\n                link.BecameWritable();\n", 20),
        new(11, "One frame in two hundred is sent twice", Routing + "Messages.cs",
            "        var sent = node.Peers.Send(target, id, scratch.Buffer.Written);\n", "        if (PLANTED && call.Version % 200 == 7)\n            node.Peers.Send(target, id, scratch.Buffer.Written);\n        var sent = node.Peers.Send(target, id, scratch.Buffer.Written);\n", 20),
        new(12, "A closed link stays in the table of links", "ActOp.Mesh/MeshNode.Handshakes.cs",
            "known = _links.Remove(link);", "known = PLANTED ? _links.Contains(link) : _links.Remove(link);", 20),
        new(13, "A client asks only the silos of its last view (R2)", Hosting + "ClientMembership.cs",
            "            var silo = Connected() ?? await FindGatewayAsync()", "            var silo = (PLANTED && _node.Silos.Active.Length > 0 ? Connected() ?? _node.Silos.Active[_turn % _node.Silos.Active.Length] : Connected()) ?? await FindGatewayAsync()", 60),
        new(14, "Grains that carry nothing are moved (R3)", Locality + "GrainTraits.cs",
            "        return !activation.Class.HoldsNoState || activation.HasLateTimer;\n", "        return !PLANTED && (!activation.Class.HoldsNoState || activation.HasLateTimer);\n", 20),
        new(15, "MigrateOnIdle while the activation ends is ignored (R10)", Activations + "Departure.cs",
            "        if (_chosen is not null || _isPastMoving)\n", "        if (_chosen is not null || _isPastMoving || (PLANTED && IsDecided))\n", 20),
        new(16, "A begin that hangs is never given up (R10, fault 8)", Activations + "Beginning.cs",
            "if (hooks.IsCompleted || await limit.EndsAsync(hooks))", "if (hooks.IsCompleted || PLANTED || await limit.EndsAsync(hooks))", 60),
        new(17, "An end that hangs is never given up (fault 8)", Activations + "Departure.cs",
            "if (running.IsCompleted || await limit.EndsAsync(running))", "if (running.IsCompleted || PLANTED || await limit.EndsAsync(running))", 50),
        new(18, "A call on a node that ends is not refused (R10)", "ActOp.Abstractions/Calls/CallRegistry.cs",
            "                if (seen == Closed)\n                    return false;\n", "                if (seen == Closed)\n                    return PLANTED;\n", 50),
        new(19, "Timers of a node outlive it", Hosting + "NodeTime.cs",
            "            while (_first is { } timer)\n", "            while (!PLANTED && _first is { } timer)\n", 60),
        new(20, "Connections that say nothing are kept (R11)", "ActOp.Mesh/PendingHandshakes.cs",
            "            while (_silent.First is { } silent && ", "            while (!PLANTED && _silent.First is { } silent && ", 20),
        new(21, "One wake-up in two thousand is lost (R13)", Activations + "Activation.Mailbox.cs",
            "        if (ReferenceEquals(head, Idle))\n            _stage.Post(this);\n", "        if (ReferenceEquals(head, Idle) && !(PLANTED && Class.IsOrdinary && Node.NewId().GetHashCode() % 2000 == 0))\n            _stage.Post(this);\n", 20),
        new(22, "A posted action that throws takes those behind it along (fault 3)", "ActOp.Mesh/Poller.cs",
            "        foreach (var (work, link) in _running)\n        {\n            Guard(work, link);\n        }\n", "        foreach (var (work, link) in _running)\n        {\n            if (PLANTED)\n                work();\n            else\n                Guard(work, link);\n        }\n", 80),
        new(23, "The membership's pump ends with an exception (fault 11)", "ActOp.Runtime/Cluster/ClusterService.cs",
            "            for (var next = 0; next < _protocol.Actions.Count; next++)\n                Perform(_protocol.Actions[next]);\n        }\n        finally\n        {\n            _protocol.Actions.Clear();\n            _pumping = false;\n        }\n",
            "            for (var next = 0; next < _protocol.Actions.Count; next++)\n            {\n                if (PLANTED && ++_planted % 500 == 0)\n                    return;\n                Perform(_protocol.Actions[next]);\n            }\n        }\n        finally\n        {\n            if (!PLANTED || _planted % 500 != 0)\n            {\n                _protocol.Actions.Clear();\n                _pumping = false;\n            }\n        }\n    }\n\n    private int _planted;\n\n    private void Unused()\n    {\n", 20),
        new(24, "The activation of a deleted observer stays (fault 15)", Activations + "Activation.Lifecycle.cs",
            "        Accepts = false;\n        Node.Activations.Remove(this);\n        Enqueue(new ActionWork(static state => ((Activation)state!).State = ActivationState.Gone, this));", "        Accepts = false;\n        if (!PLANTED)\n            Node.Activations.Remove(this);\n        Enqueue(new ActionWork(static state => ((Activation)state!).State = ActivationState.Gone, this));", 20),
        new(25, "Silos that are gone keep their numbers (fault 15)", Locality + "LocalityService.cs",
            "            _silos.Free(number);\n", "            if (!PLANTED)\n                _silos.Free(number);\n", 20),
        new(26, "References to system targets of silos that are gone stay (fault 15)", Hosting + "GrainFactory.cs",
            "if (view.StatusOf(key.Item2) is SiloStatus.None or SiloStatus.Dead)", "if (!PLANTED && view.StatusOf(key.Item2) is SiloStatus.None or SiloStatus.Dead && !PLANTED)", 20),
        new(27, "A one-way call that a limit refuses is not counted (fault 16)", "ActOp.Runtime/Calls/CallSender.cs",
            "        node.Metrics.CallLost();\n", "        if (!PLANTED)\n            node.Metrics.CallLost();\n", 120),
        new(28, "Nobody says that he is there, and silence ends no session (fault 17)", "ActOp.Mesh/MeshNode.Sessions.cs",
            "            if (peer.Current is not { IsEnding: false, Announced: { } announced } session)\n", "            if (PLANTED || peer.Current is not { IsEnding: false, Announced: { } announced } session)\n", 250),
        new(29, "Callee and caller share the objects in a request context (fault 20)", Routing + "Router.cs",
            "ContextCodec.Copy(values, copies) is var copied", "(PLANTED ? values : ContextCodec.Copy(values, copies)) is var copied", 20),
        new(30, "An answer ends whatever call has its slot now", Routing + "FrameReader.cs",
            "if (node.Calls.Registry.Find(id) is not { } call || !call.TryClaim(id))", "if (node.Calls.Registry.Find(id) is not { } call || !(PLANTED ? call.TryClaim(call.Ticket) : call.TryClaim(id)))", 20),
        new(32, "The directory answers with silos that are gone", Directory + "DirectoryPartition.cs",
            "            if (_map.View.MayHost(entry.Silo))\n", "            if (PLANTED || _map.View.MayHost(entry.Silo))\n", 40),
        new(33, "An activation that ends stays in the directory", Activations + "Departure.cs",
            "            await activation.UnregisterAsync();\n            if (_hasBegun)\n", "            if (!PLANTED)\n                await activation.UnregisterAsync();\n            if (_hasBegun)\n", 20),
        new(34, "State that no silo takes is thrown away", Activations + "Departure.cs",
            "        _state is not null && activation.Registered", "        !PLANTED && _state is not null && activation.Registered", 20),
        new(35, "A grain that arrives does not name whom it takes over from", Activations + "Beginning.cs",
            "return await activation.Node.Directory.RegisterAsync(activation, state?.Previous.Location.Activation ?? default);", "return await activation.Node.Directory.RegisterAsync(activation, PLANTED ? default : state?.Previous.Location.Activation ?? default);", 20),
        new(37, "A lease is never renewed", "ActOp.Runtime/Cluster/MembershipProtocol.cs",
            "        _confirmedAt = Math.Max(_confirmedAt, confirmedAt ?? _confirmedAt);\n", "        if (!PLANTED || _confirmedAt < 0)\n            _confirmedAt = Math.Max(_confirmedAt, confirmedAt ?? _confirmedAt);\n", 20),
        new(38, "A timer ticks once only", "ActOp.Runtime/Timers/GrainTimer.cs",
            "        if (!_disposed && !_changed && _period", "        if (!PLANTED && !_disposed && !_changed && _period", 20),
        new(40, "Some calls keep their slot when they end (R1)", "ActOp.Abstractions/Calls/Call.cs",
            "        if (ticket != Unregistered)\n            Runtime!.Registry.Remove(ticket);\n", "        if (ticket != Unregistered && !(PLANTED && AnswersTask && Version == 1))\n            Runtime!.Registry.Remove(ticket);\n", 20),
        new(41, "DeactivateOnIdle in OnActivateAsync comes too late (R10)", Activations + "Activation.Lifecycle.cs",
            "        if (IsLeaving)\n            Leave(_departure!);\n        else\n            Accepts = true;\n", "        if (IsLeaving && !PLANTED)\n        {\n            Leave(_departure!);\n        }\n        else\n        {\n            if (PLANTED && IsLeaving)\n                _departure = null;\n            Accepts = true;\n        }\n\n", 20),
        new(42, "Frames that wait for a link never leave", Routing + "PeerEntry.cs",
            "            while (!_isDraining && ", "            while (!PLANTED && !_isDraining && ", 20),
        new(43, "Idle grains are never collected", Activations + "Collector.cs",
            "            told++;\n", "            told++;\n            if (PLANTED)\n                return told;\n", 40),
        new(44, "A flush that another thread's finds done leaves the rest behind", "ActOp.Mesh/Link.Send.cs",
            "        if (tookOver)\n", "        if (tookOver && !PLANTED)\n", 50),
    ];
}
