using System.Reflection;
using System.Runtime.CompilerServices;
using ActOp.Foundation;
using ActOp.Runtime.Cluster;
using ActOp.Serialization;
using ActOp.Wire;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace ActOp.Bench.Attacks;

/// <summary>Clients that use up what they get, or call what is not for them.</summary>
internal static class ClientAttacks
{
    /// <summary>Default of <c>MaxUnfinishedClientBytes</c>, what waits in links included, and of <c>MaxWaitingBytes</c>.</summary>
    private const int WaitingCaps = 256 + 256;

    private static readonly string[] PartsOfASilo =
        ["ActOp.Runtime", "ActOp.Locality", "ActOp.Storage", "ActOp.Streams", "ActOp.Reminders", "ActOp.Management"];

    private const string KeptActivations = "activations, until they are collected";

    internal static IReadOnlyList<Attack> All { get; } =
    [
        new("unread-answers", "Y3", "8 sessions of 64 links that do not read want answers of 256 KB, 400/s", WaitingCaps, UnreadAsync),
        new("non-readers", "Y7", "6 clients that do not read want answers of 4 MB, 60/s", WaitingCaps,
            target => NonReadersAsync(target, TimeSpan.FromSeconds(5))),
        new("silent-clients", "Y7", "the same clients with a keep-alive of 0", WaitingCaps,
            target => NonReadersAsync(target, TimeSpan.Zero)),
        new("impostor", "Y5", "20 handshakes/s with guessed names, and with the name of the honest client", 0, ImpostorAsync),
        new("unlisted", "Y6", "calls of system targets of addresses that nobody has, 1 MB/s", 0, UnlistedAsync),
        new("internal-grains", "Y8", "calls of each internal method of the runtime's grains, 2,000/s", 0, InternalsAsync),
        new("one-hash", "Y9", "30,000 grains whose keys have one hash, 6,000/s", 0, OneHashAsync, KeptActivations),
        new("endless-batch", "Y12", "batches of 2^31 items of a feed without an end, by one consumer", 0, EndlessAsync),
        new("malformed", "Y14", "frames that are none, and requests cut short, 10,000/s", 0, MalformedAsync),
        new("activations", "Y14", "new grains, 30,000 at once in each second", 0, ActivationsAsync, KeptActivations),
    ];

    private static void Bytes(ref WireWriter writer, int count) => writer.WriteVarInt32(count);

    private static async Task UnreadAsync(AttackTarget target)
    {
        var nodes = new List<RawNode>();
        for (var i = 0; i < 8; i++)
            nodes.Add(await target.ConnectAsync(reads: false, options => options.LinksPerPeer = 64));
        var frame = HostileFrames.Call(nameof(IPrey.Large), "a", static (ref WireWriter writer) => Bytes(ref writer, 256 << 10));
        await target.RepeatAsync(400, number => nodes[number % nodes.Count].TrySend(frame, (uint)number));
    }

    private static async Task NonReadersAsync(AttackTarget target, TimeSpan keepAlive)
    {
        var nodes = new List<RawNode>();
        for (var i = 0; i < 6; i++)
            nodes.Add(await target.ConnectAsync(reads: false, options => options.KeepAliveInterval = keepAlive));
        var frame = HostileFrames.Call(nameof(IPrey.Large), "a", static (ref WireWriter writer) => Bytes(ref writer, 4 << 20));
        await target.RepeatAsync(60, number => nodes[number % nodes.Count].TrySend(frame));
    }

    private static async Task ImpostorAsync(AttackTarget target)
    {
        var last = new Queue<RawNode>();
        await target.RepeatAsync(20, number =>
        {
            var node = new RawNode(number % 2 == 0 ? target.HonestName : RawNode.RandomName());
            _ = node.ConnectAsync(target.Gateway);
            target.Count(1000);
            last.Enqueue(node);
            if (last.Count > 20)
                last.Dequeue().Dispose();
        });
    }

    private static async Task UnlistedAsync(AttackTarget target)
    {
        var node = await target.ConnectAsync();
        var method = HostileFrames.MethodOf<IClusterTarget>(nameof(IClusterTarget.GetTable));
        var size = HostileFrames.Request(
            SystemGrainIds.SystemTarget(ClusterService.Name, RawNode.RandomAddress()), method, HostileFrames.Nothing).Length;
        await target.RepeatAsync(1_000_000.0 / size, number =>
        {
            var address = SiloAddress.New(System.Net.IPAddress.Loopback, 1 + (number % 60_000), 1 + (number / 60_000));
            node.TrySend(HostileFrames.Request(
                SystemGrainIds.SystemTarget(ClusterService.Name, address), method, HostileFrames.Nothing, oneWay: number % 2 == 0));
        });
    }

    /// <summary>Only the runtime's own interfaces; an ordinary method with wrong arguments is another attack.</summary>
    private static async Task InternalsAsync(AttackTarget target)
    {
        var node = await target.ConnectAsync();
        // The manifest of an assembly is there when one of its types is used.
        foreach (var part in PartsOfASilo)
            RuntimeHelpers.RunModuleConstructor(Assembly.Load(part).ManifestModule.ModuleHandle);
        var frames = TypeManifest.Methods
            .Where(static method => PartsOfASilo.Contains(method.InterfaceType.Assembly.GetName().Name)
                && method.InterfaceType.Namespace!.StartsWith("ActOp.", StringComparison.Ordinal))
            .Select(static method => HostileFrames.Request(GrainId.Create("prey", "a"), method.Id, HostileFrames.Nothing)).ToArray();
        await target.RepeatAsync(2_000, number => node.TrySend(frames[number % frames.Length]));
    }

    private static async Task OneHashAsync(AttackTarget target)
    {
        var node = await target.ConnectAsync();
        var method = HostileFrames.MethodOf<IPrey>(nameof(IPrey.Echo));
        await target.RepeatAsync(6_000, number => node.TrySend(HostileFrames.Request(
            HostileFrames.OneHash((uint)(number % 30_000)), method, static (ref WireWriter writer) => writer.WriteVarInt32(1))));
    }

    private static async Task EndlessAsync(AttackTarget target)
    {
        var builder = ActOp.Harness.Processes.QuietHost.CreateBuilder();
        builder.UseOrleansClient(client => client.UseLocalhostClustering([target.Gateway]).UseClusterSecret(RawNode.ClientSecret));
        using var host = builder.Build();
        await host.StartAsync();
        var prey = host.Services.GetRequiredService<IGrainFactory>().GetGrain<IPrey>("endless");
        using var limit = new CancellationTokenSource(target.Length);
        await foreach (var number in prey.Endless().WithBatchSize(int.MaxValue))
        {
            if (number % 1024 == 0)
                target.Count(100);
            // About 20 batches a second: the consumer is no flood.
            if (number % 1024 == 0)
                await Task.Delay(50);
            if (limit.IsCancellationRequested)
                break;
        }

        await host.StopAsync();
    }

    private static async Task MalformedAsync(AttackTarget target)
    {
        var node = await target.ConnectAsync();
        var good = HostileFrames.Call(nameof(IPrey.Echo), "a\u0007\n", static (ref WireWriter writer) => writer.WriteVarInt32(1));
        await target.RepeatAsync(10_000, number =>
            node.TrySend(number % 2 == 0 ? [9, 9, 9] : good.AsSpan(0, 1 + (number % (good.Length - 1)))));
    }

    private static async Task ActivationsAsync(AttackTarget target)
    {
        const int AtOnce = 30_000;
        var node = await target.ConnectAsync();
        await target.RepeatAsync(1, second =>
        {
            for (var number = 0; number < AtOnce; number++)
            {
                node.TrySend(HostileFrames.Call(
                    nameof(IPrey.Echo), "flood" + second + "." + number, static (ref WireWriter writer) => writer.WriteVarInt32(1)));
            }
        });
    }
}
