using ActOp.Wire;

namespace ActOp.Bench.Attacks;

/// <summary>A client that sends calls whose arguments are made to be expensive.</summary>
internal static class ContentAttacks
{
    internal static IReadOnlyList<Attack> All { get; } =
    [
        new("exception-chain", "Y1", "20,000 exceptions within each other, in the request context, 1/s", 0, target => FramesAsync(
            target, 1, HostileFrames.Call(
                nameof(IPrey.Echo), "a", One, context: HostileFrames.Context(HostileFrames.Exceptions(20_000, 1))))),
        new("deep-key", "Y1", "250,000 tuples, each refers to the one before, the last is a key, 1 in 2 s", 0, target => FramesAsync(
            target, 0.5, HostileFrames.Call(nameof(IPrey.TakeKeyed), "a", HostileFrames.Chain(250_000, twice: false)))),
        new("exception-cycle", "Y1", "an exception that is its own inner one, thrown and logged, 500/s", 0, target => FramesAsync(
            target, 500, HostileFrames.Call(
                nameof(IPrey.Throw), "a", HostileFrames.Exception("System.TimeoutException", "m", cycle: true), oneWay: true))),
        new("doubled-key", "Y2", "a key of 2^64 paths, 500/s", 0, target => FramesAsync(
            target, 500, HostileFrames.Call(nameof(IPrey.TakeKeyed), "a", HostileFrames.Chain(64, twice: true)))),
        new("empty-queues", "Y3", "500 empty queues of large items, 100/s", 0, target => FramesAsync(
            target, 100, HostileFrames.EmptyQueues)),
        new("exception-graph", "Y3", "40 exceptions with two inner ones each, by reference, 200/s", 0, target => FramesAsync(
            target, 200, HostileFrames.Call(nameof(IPrey.Take), "a", HostileFrames.Exceptions(40, 2)))),
        new("boxes", "Y3", "60 boxed structs, each twice in the next one, sent back, 200/s", 0, target => FramesAsync(
            target, 200, HostileFrames.Call(nameof(IPrey.Back), "a", HostileFrames.Boxes(60)))),
        new("long-ids", "Y3", "frames with ids of 100 KB, 50/s", 0, LongIdsAsync),
        new("exception-names", "Y11", "exceptions of unknown classes, 2,000/s", 0, ExceptionNamesAsync),
        new("integer-keys", "Y14", "a dictionary of 50,000 integers with one hash code, 1/s", 0, target => FramesAsync(
            target, 1, HostileFrames.Call(nameof(IPrey.Take), "a", HostileFrames.IntegerKeys(50_000)))),
        new("log-texts", "Y14", "exceptions with texts of many lines, thrown and logged, 1,000/s", 0, target => FramesAsync(
            target, 1_000, HostileFrames.Call(nameof(IPrey.Throw), "a", HostileFrames.Exception(
                "System.TimeoutException", new string('x', 2_000) + "\n2026-01-01 critical: forged\u001b[31m"), oneWay: true))),
    ];

    private static void One(ref WireWriter writer) => writer.WriteVarInt32(1);

    private static async Task FramesAsync(AttackTarget target, double perSecond, byte[] frame)
    {
        var node = await target.ConnectAsync();
        await target.RepeatAsync(perSecond, _ => node.TrySend(frame));
    }

    private static async Task LongIdsAsync(AttackTarget target)
    {
        var node = await target.ConnectAsync();
        await target.RepeatAsync(50, number =>
        {
            var key = new byte[100_000];
            BitConverter.TryWriteBytes(key, number);
            node.TrySend(HostileFrames.Request(
                GrainId.Create(GrainType.Create("prey"), new IdSpan(key)), HostileFrames.MethodOf<IPrey>(nameof(IPrey.Echo)), One));
        });
    }

    private static async Task ExceptionNamesAsync(AttackTarget target)
    {
        var node = await target.ConnectAsync();
        await target.RepeatAsync(2_000, number => node.TrySend(HostileFrames.Call(
            nameof(IPrey.Take), "a", HostileFrames.Exception("Nobody.Knows" + number + "Exception", "m"))));
    }
}
