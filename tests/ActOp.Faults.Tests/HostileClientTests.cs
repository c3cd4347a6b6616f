using System.Diagnostics.Metrics;
using System.Globalization;
using System.Net;
using ActOp.Foundation;
using ActOp.Locality;
using ActOp.Management.Operations;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Calls;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Diagnostics;
using ActOp.Runtime.Directory;
using ActOp.Runtime.Nodes;
using ActOp.Runtime.Routing;
using ActOp.Serialization;
using ActOp.TestClusters;
using ActOp.Wire;
using Microsoft.Extensions.Hosting;
using Large = ((decimal, decimal, decimal, decimal, decimal, decimal, decimal), (decimal, decimal, decimal, decimal, decimal, decimal,
    decimal), (decimal, decimal, decimal, decimal, decimal, decimal, decimal));

namespace ActOp.Faults.Tests;

/// <summary>
/// A client that sends what only silos may send, or nobody: each is refused, counted and logged, and the calls of others go on meanwhile.
/// </summary>
public class HostileClientTests : IAsyncLifetime
{
    private readonly CancellationTokenSource _enough = new();
    private InProcessTestCluster _cluster = null!;
    private IHost _hostile = null!;
    private Task<int> _load = null!;

    private Node Hostile => _hostile.Services.GetRequiredService<Node>();

    private IClusterClient HostileClient => _hostile.Services.GetRequiredService<IClusterClient>();

    private Node Silo => _cluster.Silos[0].ServiceProvider.GetRequiredService<Node>();

    private SiloAddress Other => _cluster.Silos[1].SiloAddress;

    public async ValueTask InitializeAsync()
    {
        _cluster = new InProcessTestClusterBuilder(2).Build();
        await _cluster.DeployAsync();
        _hostile = await _cluster.StartSecondClientAsync();
        // The hostile client must be connected to both silos, as clients are.
        await TestingUtils.WaitUntilAsync(
            _ => Task.FromResult(_cluster.Silos.All(silo => Hostile.Peers.IsConnected(silo.SiloAddress))), Gate.Patience,
            TimeSpan.FromMilliseconds(1));
        _load = Task.Run(LoadAsync);
    }

    /// <summary>The load has gone on all the time, without an error.</summary>
    public async ValueTask DisposeAsync()
    {
        _enough.Cancel();
        Assert.True(await _load.WaitAsync(Gate.Patience) > 0);
        // Neither client was disconnected for what the hostile one has sent.
        Assert.DoesNotContain("Disconnected from", _cluster.GetLog(), StringComparison.Ordinal);
        await _hostile.StopAsync();
        _hostile.Dispose();
        await _cluster.DisposeAsync();
        GC.SuppressFinalize(this);
    }

    [Fact]
    public async Task The_membership_table_cannot_be_read_or_written_as_silos_do()
    {
        var target = Hostile.Factory.GetSystemTarget<IClusterTarget>(ClusterService.Name, Silo.Address);
        var write = new TableRequest(1, TableOperation.Write) { ExpectedVersion = 2, ChangesView = true, Removed = [Other] };
        await Refused(() => target.UseTable(write).AsTask(), Refusal.Method);
        await Refused(() => target.GetActivationCount().AsTask(), Refusal.Method);
        Assert.NotEqual(0, (await target.GetTable()).TableId);
        Assert.NotEmpty((await target.GetGrainTypes()).Entries);
        Assert.True(Silo.ClusterView.IsActive(Other));
    }

    [Fact]
    public async Task The_directory_cannot_be_read_or_changed()
    {
        var target = Hostile.Factory.GetSystemTarget<IDirectoryTarget>(DirectoryService.Name, Silo.Address);
        var grain = HostileClient.GetGrain<IPrey>(1).GetGrainId();
        await Refused(() => target.Lookup(grain).AsTask(), Refusal.Method);
        await Refused(() => target.Register(new RegisterRequest(grain, Silo.Address, default)).AsTask(), Refusal.Method);
        await Refused(() => target.Unregister(new Registration(grain, default)).AsTask(), Refusal.Method);
    }

    [Fact]
    public async Task Grains_cannot_be_handed_over_with_a_state()
    {
        var grain = HostileClient.GetGrain<IPrey>(2).GetGrainId();
        var target = Hostile.Factory.GetSystemTarget<IMigrationTarget>(Migrations.Name, Silo.Address);
        await Refused(() => target.Accept(new Registration(grain, default), []).AsTask(), Refusal.Method);
        Assert.False(Silo.Activations.TryGet(grain, out _));
    }

    /// <summary>Whatever methods there will be: none but two is open to clients, and none of them is called by a raw frame.</summary>
    [Fact]
    public async Task Every_method_of_a_system_target_is_closed_to_clients_but_for_an_explicit_list()
    {
        var methods = TypeManifest.Methods.Where(method => typeof(ISystemTarget).IsAssignableFrom(method.InterfaceType)).ToArray();
        var open = methods.Where(method => SystemRights.Allows(method.Id, PeerRole.Client)).Select(method => method.Name).Order();
        Assert.Equal(["GetGrainTypes", "GetTable"], open);
        // Open to operators, and to all clients of silos that grant management, as those of this test do: see ClientRightsTests.
        var ofOperators = methods.Where(static method => method.InterfaceType == typeof(IOperatorTarget)).ToArray();
        Assert.Equal(["Drain", "GetReport", "Locate", "Move"], ofOperators.Select(static method => method.Name).Order());
        var closed = methods.Except(ofOperators).Where(method => !SystemRights.Allows(method.Id, PeerRole.Client)).ToArray();
        foreach (var method in closed)
        {
            foreach (var name in new[] { ClusterService.Name, DirectoryService.Name, Migrations.Name, LocalityService.Name })
            {
                var target = SystemGrainIds.SystemTarget(name, Silo.Address);
                await RefusedFrame(Request(target, method.Id, FrameFlags.OneWay), Refusal.Method);
            }
        }

        Assert.True(closed.Length > 15);
    }

    [Fact]
    public async Task A_system_target_of_another_silo_is_not_reached_through_a_silo()
    {
        var method = MethodOf<IClusterTarget>(nameof(IClusterTarget.GetTable));
        await RefusedFrame(Request(SystemGrainIds.SystemTarget(ClusterService.Name, Other), method), Refusal.Origin);
    }

    [Fact]
    public async Task Silos_do_not_dial_an_address_because_an_id_names_it()
    {
        var nowhere = SiloAddress.New(IPAddress.Loopback, 9, 1);
        var method = MethodOf<IPrey>(nameof(IPrey.Add));
        var observer = SystemGrainIds.Observer(nowhere, Guid.NewGuid());
        Hostile.Peers.Send(Silo.Address, default, Request(observer, method));
        await HostileClient.GetGrain<IPrey>(3).Add(1);
        // Nor when a grain calls by such a reference.
        var reference = (IPreyWatcher)(object)Hostile.Factory.Create(observer, typeof(IPreyWatcher));
        await Assert.ThrowsAsync<SiloUnavailableException>(() => HostileClient.GetGrain<IPrey>(3).Tell(reference).WaitAsync(Gate.Patience));
        Assert.DoesNotContain(Silo.Peers.Mesh.Peers(), peer => peer.Name == nowhere.ToParsableString());
    }

    /// <summary>With 65,536 entries no silo could join.</summary>
    [Fact]
    public async Task Nothing_is_kept_for_an_address_because_a_client_names_it()
    {
        var nowhere = SiloAddress.New(IPAddress.Loopback, 9, 1);
        var open = MethodOf<IClusterTarget>(nameof(IClusterTarget.GetTable));
        GrainId[] targets =
        [
            SystemGrainIds.Observer(nowhere, Guid.NewGuid()), SystemGrainIds.Client(nowhere),
            SystemGrainIds.SystemTarget(ClusterService.Name, nowhere),
        ];
        foreach (var target in targets)
        {
            Hostile.Peers.Send(Silo.Address, default, Request(target, open, FrameFlags.OneWay));
            Hostile.Peers.Send(Silo.Address, default, Request(target, open));
            Hostile.Peers.Send(Silo.Address, default, Written((ref WireWriter writer) =>
                new CancelFrame(Hostile.Address, 1, target, 0, 10_000).Write(ref writer, 0)));
        }

        // Read after those before it.
        await RefusedFrame([9, 9, 9], Refusal.Frame);
        Assert.Null(Silo.Peers.FindSender(nowhere));
    }

    [Fact]
    public async Task A_key_that_is_longer_than_frames_carry_fails_its_call_at_once()
    {
        var grain = _cluster.Client.GetGrain<IEchoGrain>(new string('k', GrainIdBytes.MaxBytes));
        var exception = await Assert.ThrowsAsync<LimitExceededException>(() => grain.Echo("text").WaitAsync(Gate.Patience));
        Assert.Contains(GrainIdBytes.MaxBytes.ToString(CultureInfo.InvariantCulture), exception.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(GrainIdBytes.MaxBytes - 4, true)]
    [InlineData(GrainIdBytes.MaxBytes - 3, false)]
    public void A_longer_id_is_not_read(int bytes, bool isRead)
    {
        var frame = Written((ref WireWriter writer) =>
        {
            writer.WriteFixed32(1);
            writer.WriteBytes("prey"u8);
            writer.WriteBytes(new byte[bytes]);
        });
        var exception = Record.Exception(() =>
        {
            var reader = new WireReader(frame, new WireSession(null));
            new IdIntern().Read(ref reader);
        });
        Assert.Equal(isRead, exception is not Orleans.Serialization.SerializerException);
    }

    [Theory]
    [InlineData(500, true)]
    [InlineData(600, false)]
    public void Only_short_ids_are_kept_for_the_next_frame(int bytes, bool areKept)
    {
        var key = new byte[bytes];
        var intern = new IdIntern();
        var (first, second) = (intern.Intern(1, "prey"u8, key), intern.Intern(1, "prey"u8, key));
        Assert.Equal(first, second);
        Assert.Equal(areKept, ReferenceEquals(IdSpan.UnsafeGetArray(first.Key), IdSpan.UnsafeGetArray(second.Key)));
    }

    [Fact]
    public async Task A_request_cannot_come_from_another_node_or_be_placed()
    {
        var grain = HostileClient.GetGrain<IPrey>(4).GetGrainId();
        var method = MethodOf<IPrey>(nameof(IPrey.Add));
        await RefusedFrame(Request(grain, method, FrameFlags.HasOrigin, origin: Other), Refusal.Origin);
        await RefusedFrame(Request(grain, method, placedHere: true), Refusal.Origin);
        Assert.False(Silo.Activations.TryGet(grain, out _));
    }

    [Fact]
    public async Task A_call_cannot_be_made_in_the_name_of_another()
    {
        var grain = HostileClient.GetGrain<IPrey>(5).GetGrainId();
        var method = MethodOf<IPrey>(nameof(IPrey.Add));
        GrainId[] others =
        [
            grain, SystemGrainIds.Client(Other), SystemGrainIds.Observer(Other, Guid.NewGuid()),
            SystemGrainIds.SystemTarget(ClusterService.Name, Hostile.Address),
            GrainId.Create(GrainType.Create("sys.client"), Hostile.Address.ToParsableString() + "1"),
        ];
        foreach (var source in others)
            await RefusedFrame(Request(grain, method, source: source), Refusal.Source);
    }

    [Fact]
    public async Task Nothing_is_relayed_to_silos_and_no_call_is_redirected()
    {
        var ticket = await HeldCallAsync();
        var reply = Reply(ticket.Ticket, 666);
        await RefusedFrame(Frame(FrameKind.RelayedReply, Other, reply), Refusal.Origin);
        await RefusedFrame(Frame(FrameKind.ClientReply, Other, reply[1..]), Refusal.Origin);
        await RefusedFrame(Forwarded(ticket.Ticket, SiloAddress.New(IPAddress.Loopback, 9, 1)), Refusal.Origin);
        await RefusedFrame([9, 9, 9], Refusal.Frame);
        await ticket.EndAsync();
    }

    [Fact]
    public async Task One_frame_of_a_client_does_not_become_many_calls()
    {
        var watcher = new PreyWatcher();
        var reference = _cluster.Silos[0].ServiceProvider.GetRequiredService<IClusterClient>().CreateObjectReference<IPreyWatcher>(watcher);
        var key = reference.GetGrainId().Key.AsSpan();
        var digest = Convert.FromHexString(System.Text.Encoding.UTF8.GetString(key[^FanoutFrame.DigestDigits..]));
        var request = Request(default, MethodOf<IPreyWatcher>(nameof(IPreyWatcher.Answer)), FrameFlags.OneWay, arguments: [0]);
        var buffer = new WireBuffer();
        var writer = new WireWriter(buffer, new WireSession(null));
        FanoutFrame.Write(ref writer, isOneWay: true, FanoutFrame.PrefixOf(Silo.Address), digest);
        writer.WriteRaw(request);
        writer.Commit();
        await RefusedFrame(buffer.Written.ToArray(), Refusal.Origin);
        GC.KeepAlive(watcher);
    }

    [Fact]
    public async Task One_frame_of_a_client_is_not_many_calls_of_grains()
    {
        var prey = _cluster.Client.GetGrain<IPrey>(77).GetGrainId();
        var receiver = new byte[GrainFanoutFrame.MaxBytesOf(prey)];
        var length = GrainFanoutFrame.WriteReceiver(receiver, prey);
        var buffer = new WireBuffer();
        var writer = new WireWriter(buffer, new WireSession(null));
        GrainFanoutFrame.Write(ref writer, isOneWay: true, prey.Type.AsSpan(), 1, receiver.AsSpan(0, length));
        writer.WriteRaw(Request(default, MethodOf<IPrey>(nameof(IPrey.Add)), FrameFlags.OneWay, arguments: [0]));
        writer.Commit();
        await RefusedFrame(buffer.Written.ToArray(), Refusal.Origin);
    }

    /// <summary>Found by damaged frames: the other client closed its link to the silo, which had passed on what is no reply.</summary>
    [Fact]
    public async Task What_a_silo_relays_to_another_client_is_well_formed()
    {
        var other = _cluster.Client.ServiceProvider.GetRequiredService<Node>().Address;
        var reply = Reply(1, 1);
        await RefusedFrame(Frame(FrameKind.RelayedReply, other, [(byte)FrameKind.Reply, 0, 1, 2]), Refusal.Origin);
        await RefusedFrame(Frame(FrameKind.RelayedReply, other, [reply[0], (byte)FrameFlags.HasLocation, .. reply[2..]]), Refusal.Origin);
        await RefusedFrame(Frame(FrameKind.RelayedReply, other, []), Refusal.Origin);
        Assert.Equal(0, await _cluster.Client.GetGrain<IPrey>(12).Add(1).WaitAsync(Gate.Patience));
    }

    [Fact]
    public async Task A_call_of_another_cannot_be_answered()
    {
        var held = await HeldCallAsync();
        await RefusedFrame(Reply(held.Ticket, 666), Refusal.Reply);
        await held.EndAsync();
    }

    [Fact]
    public async Task A_call_of_another_clients_observer_cannot_be_answered()
    {
        using var gate = new Gate();
        var watcher = new PreyWatcher();
        var grain = _cluster.Client.GetGrain<IPrey>(6);
        await Place.On(Silo.Address, () => grain.Add(1));
        var asked = grain.Ask(_cluster.Client.CreateObjectReference<IPreyWatcher>(watcher), gate.Name);
        await gate.ArrivedAsync();
        // The silo waits for the observer's client and for nobody else.
        var (_, ticket) = Assert.Single(Silo.Calls.Registry.Read(), entry => entry.Call.Method.Name == nameof(IPreyWatcher.Answer));
        await RefusedFrame(Reply(ticket, 666), Refusal.Reply);
        gate.Open();
        Assert.Equal(42, await asked.WaitAsync(Gate.Patience));
        GC.KeepAlive(watcher);
    }

    /// <summary>
    /// As in Orleans, whoever has the reference of an observer may call it. The answer comes by a silo, which names the client.
    /// </summary>
    [Fact]
    public async Task An_observer_of_another_client_answers_through_a_silo()
    {
        var watcher = new PreyWatcher();
        var reference = _cluster.Client.CreateObjectReference<IPreyWatcher>(watcher);
        var own = (IPreyWatcher)(object)Hostile.Factory.Create(reference.GetGrainId(), typeof(IPreyWatcher));
        Assert.Equal(42, await own.Answer(null).WaitAsync(Gate.Patience));
        GC.KeepAlive(watcher);
    }

    [Fact]
    public async Task A_request_does_not_interleave_because_it_says_so()
    {
        using var gate = new Gate();
        var grain = _cluster.Client.GetGrain<IPrey>(7);
        await Place.On(Silo.Address, () => grain.Add(0));
        var held = grain.Hold(gate.Name);
        await gate.ArrivedAsync();
        // The bits that once meant read-only and always interleaving.
        Hostile.Peers.Send(Silo.Address, grain.GetGrainId(), Request(
            grain.GetGrainId(), MethodOf<IPrey>(nameof(IPrey.Add)), FrameFlags.OneWay | (FrameFlags)6, arguments: [2]));
        Assert.True(Silo.Activations.TryGet(grain.GetGrainId(), out var activation));
        // No call over another link tells that it has come.
        await TestingUtils.WaitUntilAsync(
            _ => Task.FromResult(activation.Admission.HasWaiting), Gate.Patience, TimeSpan.FromMilliseconds(1));
        gate.Open();
        Assert.Equal(0, await held.WaitAsync(Gate.Patience));
        Assert.Equal(1, await grain.Add(0).WaitAsync(Gate.Patience));
    }

    [Fact]
    public async Task Unknown_methods_and_classes_fail_their_call_only()
    {
        var prey = HostileClient.GetGrain<IPrey>(9);
        await Place.On(Silo.Address, () => prey.Add(1));
        await RefusedFrame(Request(prey.GetGrainId(), 0x0123456789ABCDEF), Refusal.Unknown);
        // The client places nothing, so it cannot know that the class is missing.
        var missing = (IPrey)(object)Hostile.Factory.Create(GrainId.Create("no.such.class", "1"), typeof(IPrey));
        var exception = await Assert.ThrowsAnyAsync<Exception>(() => missing.Add(1).WaitAsync(Gate.Patience));
        Assert.Contains("no.such.class", exception.Message, StringComparison.Ordinal);
    }

    /// <summary>One byte an item on the wire, and 336 in memory.</summary>
    [Fact]
    public async Task A_message_that_needs_much_more_memory_than_its_length_fails_its_call_only()
    {
        var before = Silo.Refusals[Refusal.Data];
        var grain = HostileClient.GetGrain<IPrey>(10);
        await Place.On(Silo.Address, () => grain.Add(1));
        var bomb = new Large?[50_000];
        var exception =
            await Assert.ThrowsAsync<Orleans.Serialization.SerializerException>(() => grain.Take(bomb).WaitAsync(Gate.Patience));
        Assert.Contains("SerializationLimitOptions", exception.Message, StringComparison.Ordinal);
        Assert.Equal(before + 1, Silo.Refusals[Refusal.Data]);
        await AssertLoggedAsync(Refusal.Data);
        Assert.Equal(50, await grain.Take(new Large?[50]).WaitAsync(Gate.Patience));
    }

    /// <summary>Types are never unloaded: what one client may name is limited, and does not take from silos what they need.</summary>
    [Fact]
    public async Task One_host_cannot_use_up_the_types_that_a_process_can_construct()
    {
        var before = Silo.Refusals[Refusal.Data];
        var method = MethodOf<IPrey>(nameof(IPrey.Take));
        var grain = HostileClient.GetGrain<IPrey>(11);
        await Place.On(Silo.Address, () => grain.Add(1));
        string[] parts = ["System.Int32", "System.Int64", "System.Byte", "System.Char", "System.Guid", "System.Half"];
        for (var number = 0; number < 1_100; number++)
        {
            var name = parts[0];
            for (var rest = number + 1_000_000; rest > 0; rest /= parts.Length)
                name = "System.Collections.Generic.KeyValuePair`2<" + parts[rest % parts.Length] + "," + name + ">";
            Hostile.Peers.Send(Silo.Address, default, Request(grain.GetGrainId(), method, FrameFlags.OneWay, body: Named(name)));
        }

        await TestingUtils.WaitUntilAsync(
            _ => Task.FromResult(Silo.Refusals[Refusal.Data] == before + 1_100), Gate.Patience, TimeSpan.FromMilliseconds(1));
        Assert.InRange(Silo.Peers.FindSender(Hostile.Address)!.Types!.Used, 1_000, 1_024);
        // What the process knows already can still be named.
        Assert.Equal(3, await grain.Take(new List<int> { 1, 2, 3 }).WaitAsync(Gate.Patience));
    }

    /// <summary>An object of a type, which is missing after its name.</summary>
    private static byte[] Named(string type) => Written((ref WireWriter writer) =>
    {
        writer.WriteByte(2);
        writer.WriteByte(0);
        writer.WriteString(type);
    });

    [Fact]
    public async Task Refusals_are_counted_by_reason_and_logged_once_in_a_while()
    {
        var counted = new Dictionary<string, long>();
        using var listener = new MeterListener();
        listener.InstrumentPublished = (instrument, self) =>
        {
            if (instrument.Name == "actop.refused")
                self.EnableMeasurementEvents(instrument);
        };
        listener.SetMeasurementEventCallback<long>((_, value, tags, _) =>
        {
            var reason = (string)tags[0].Value!;
            counted[reason] = counted.GetValueOrDefault(reason) + value;
        });
        listener.Start();
        // All at once: a second line would follow after some seconds.
        var before = Silo.Refusals[Refusal.Frame];
        for (var frame = 0; frame < 50; frame++)
            Assert.Null(Hostile.Peers.Send(Silo.Address, default, [9, 9, 9]));
        await TestingUtils.WaitUntilAsync(
            _ => Task.FromResult(Silo.Refusals[Refusal.Frame] == before + 50), Gate.Patience, TimeSpan.FromMilliseconds(1));
        await AssertLoggedAsync(Refusal.Frame);
        listener.RecordObservableInstruments();
        Assert.True(counted["frame"] >= 50);
        Assert.Single(_cluster.GetLog().Split(Environment.NewLine), line => line.Contains("(frame)", StringComparison.Ordinal));
    }

    /// <summary>A call of silo 0 for a grain of silo 1, which waits.</summary>
    private async Task<HeldCall> HeldCallAsync()
    {
        var gate = new Gate();
        var client = _cluster.Silos[0].ServiceProvider.GetRequiredService<IClusterClient>();
        var grain = client.GetGrain<IPrey>(Random.Shared.NextInt64());
        await Place.On(Other, () => grain.Add(41));
        var call = grain.Hold(gate.Name);
        await gate.ArrivedAsync();
        var (_, ticket) = Assert.Single(Silo.Calls.Registry.Read(), entry => entry.Call.Method.Name == nameof(IPrey.Hold));
        return new HeldCall(gate, call, ticket);
    }

    private async Task Refused(Func<Task> call, Refusal reason)
    {
        var before = Silo.Refusals[reason];
        var exception = await Assert.ThrowsAsync<OrleansMessageRejectionException>(() => call().WaitAsync(Gate.Patience));
        Assert.Contains("refused", exception.Message, StringComparison.Ordinal);
        Assert.Equal(before + 1, Silo.Refusals[reason]);
        await AssertLoggedAsync(reason);
    }

    private async Task RefusedFrame(byte[] frame, Refusal reason)
    {
        var before = Silo.Refusals[reason];
        Assert.Null(Hostile.Peers.Send(Silo.Address, default, frame));
        await TestingUtils.WaitUntilAsync(
            _ => Task.FromResult(Silo.Refusals[reason] == before + 1), Gate.Patience, TimeSpan.FromMilliseconds(1));
        Assert.Equal(before + 1, Silo.Refusals[reason]);
        await AssertLoggedAsync(reason);
    }

    /// <summary>The line follows the count.</summary>
    private async Task AssertLoggedAsync(Refusal reason)
    {
        var line = "frames of " + Hostile.Address + " (" + Refusals.NameOf(reason) + ")";
        await TestingUtils.WaitUntilAsync(
            _ => Task.FromResult(_cluster.GetLog().Contains(line, StringComparison.Ordinal)), Gate.Patience, TimeSpan.FromMilliseconds(1));
        Assert.Contains(line, _cluster.GetLog(), StringComparison.Ordinal);
    }

    private byte[] Request(
        GrainId target, ulong method, FrameFlags flags = 0, bool placedHere = false, GrainId source = default, SiloAddress? origin = null,
        int[]? arguments = null, byte[]? body = null) => Written((ref WireWriter writer) =>
    {
        RequestHeader header = new()
        {
            Flags = flags,
            PlacedHere = placedHere,
            ReplyTo = 1,
            MethodId = method,
            Origin = origin,
            Via = Hostile.Address,
        };
        header.Write(ref writer, target, source);
        if (body is not null)
        {
            writer.WriteRaw(body);
            return;
        }

        foreach (var argument in arguments ?? [1])
            writer.WriteVarInt32(argument);
    });

    private static byte[] Reply(long ticket, int result) => Written((ref WireWriter writer) =>
    {
        new ReplyHeader(FrameFlags.None, (ulong)ticket, null, 0).Write(ref writer);
        writer.WriteVarInt32(result);
    });

    private static byte[] Forwarded(long ticket, SiloAddress silo) =>
        Written((ref WireWriter writer) => new ForwardedFrame(1, (ulong)ticket, silo).Write(ref writer));

    private static byte[] Frame(FrameKind kind, SiloAddress node, byte[] rest) => Written((ref WireWriter writer) =>
    {
        writer.WriteByte((byte)kind);
        Addresses.Write(ref writer, node);
        writer.WriteRaw(rest);
    });

    private delegate void Write(ref WireWriter writer);

    private static byte[] Written(Write write)
    {
        var buffer = new WireBuffer();
        var writer = new WireWriter(buffer, new WireSession(null));
        write(ref writer);
        writer.Commit();
        return buffer.Written.ToArray();
    }

    private static ulong MethodOf<TInterface>(string name) =>
        TypeManifest.Methods.Single(method => method.InterfaceType == typeof(TInterface) && method.Name == name).Id;

    private async Task<int> LoadAsync()
    {
        var calls = 0;
        do
            await _cluster.Client.GetGrain<IPrey>(100 + (calls++ % 50)).Add(1);
        while (!_enough.IsCancellationRequested);
        return calls;
    }

    private sealed record HeldCall(Gate Gate, Task<int> Call, long Ticket)
    {
        /// <summary>The grain's own answer has come, not a forged one.</summary>
        internal async Task EndAsync()
        {
            Assert.False(Call.IsCompleted);
            Gate.Open();
            Assert.Equal(41, await Call.WaitAsync(Gate.Patience));
            Gate.Dispose();
        }
    }

    public interface IPrey : IGrainWithIntegerKey
    {
        /// <summary>Adds to a sum; returns the number of calls of this method while <see cref="Hold"/> did not run.</summary>
        Task<int> Add(int number);

        /// <summary>Returns the sum when the gate is open.</summary>
        Task<int> Hold(string gate);

        Task Tell(IPreyWatcher watcher);

        Task<int> Ask(IPreyWatcher watcher, string gate);

        /// <summary>Returns the number of items.</summary>
        Task<int> Take(object items);
    }

    public interface IPreyWatcher : IGrainObserver
    {
        Task<int> Answer(string? gate);
    }

    public sealed class PreyGrain : Grain, IPrey
    {
        private int _sum;
        private int _afterHold;

        public Task<int> Add(int number)
        {
            _sum += number;
            return Task.FromResult(number == 0 ? _afterHold : _afterHold++);
        }

        public async Task<int> Hold(string gate)
        {
            _afterHold = 0;
            await Gate.PassAsync(gate);
            return _afterHold == 0 ? _sum : -1;
        }

        public Task Tell(IPreyWatcher watcher) => watcher.Answer(null);

        public Task<int> Take(object items) => Task.FromResult(((System.Collections.ICollection)items).Count);

        public Task<int> Ask(IPreyWatcher watcher, string gate) => watcher.Answer(gate);
    }

    public sealed class PreyWatcher : IPreyWatcher
    {
        public async Task<int> Answer(string? gate)
        {
            await Gate.PassAsync(gate);
            return 42;
        }
    }
}
