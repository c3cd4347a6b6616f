using System.Collections.Concurrent;
using ActOp.Calls;
using ActOp.Runtime.Directory;
using ActOp.Runtime.Routing;
using ActOp.TestClusters;
using ActOp.Wire;
using Orleans.GrainDirectory;
using Orleans.Runtime.Hosting;

namespace ActOp.Calls.Tests.Cancellation;

/// <summary>A cancellation meets its request wherever it overtakes or misses it between the caller and the callee.</summary>
public sealed class CancellationRouteTests
{
    /// <summary>
    /// The first silo calls; the second one, where it believes the grain to be, forwards the request to the third one. The directory of the
    /// application holds the request where the test wants.
    /// </summary>
    [Theory]
    [InlineData(true, 1)]
    [InlineData(true, 2)]
    [InlineData(false, 1)]
    [InlineData(false, 2)]
    public async Task A_cancellation_reaches_the_request_wherever_both_are(bool hasLeft, int toldSilo)
    {
        using var started = new Gate();
        var held = new HeldDirectory();
        await using var silos = await SilosInVirtualTime.Deploy(silo => silo.AddGrainDirectory("held", (_, _) => held), silos: 3);
        var grain = silos.Grains.GetGrain<IHeldPatient>(Guid.NewGuid());
        silos.NodeOf(0).Locations.SetLocation(grain.GetGrainId(), new Location(silos.AddressOf(1), default, 0));
        using var source = new CancellationTokenSource();
        var gate = hasLeft ? held.Registrations : held.Lookups;
        held.Hold(gate);
        var call = Place.On(silos.AddressOf(2), () => grain.Wait(started.Name, source.Token));
        await gate.ArrivedAsync();
        // The request waits in the silo that was called first, or in the one that the grain starts on.
        Cancel(silos, toldSilo, grain.GetGrainId());
        silos.Clock.Advance(TimeSpan.FromSeconds(2));
        // A request that waits for its activation is answered at once, and one that is on its way when it goes on.
        if (hasLeft)
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => call.WaitAsync(Gate.Patience));
        gate.Open();
        var exception = await Assert.ThrowsAnyAsync<OperationCanceledException>(() => call.WaitAsync(Gate.Patience));
        Assert.Contains("was cancelled", exception.Message, StringComparison.Ordinal);
        Assert.Equal(0, started.Count);
        // A silo gives the request back after it has sent the answer.
        await TestingUtils.WaitUntilAsync(
            _ => Task.FromResult(Enumerable.Range(0, 3).All(silo => silos.NodeOf(silo).Calls.Cancellables.Count == 0)), Gate.Patience,
            TimeSpan.FromMilliseconds(1));
        source.Cancel();
    }

    [Fact]
    public async Task What_a_node_knows_of_requests_that_it_has_not_is_forgotten_after_their_deadlines()
    {
        await using var silos = await SilosInVirtualTime.Deploy();
        var cancellables = silos.NodeOf(1).Calls.Cancellables;
        for (var ticket = 1u; ticket <= 100; ticket++)
            Told(silos, 1, GrainId.Create("none", "x"), ticket);
        Assert.Equal(100, cancellables.Notes);
        await silos.PassAsync(TimeSpan.FromMinutes(1), 1);
        await TestingUtils.WaitUntilAsync(_ => Task.FromResult(cancellables.Notes == 0), Gate.Patience);
    }

    [Fact]
    public async Task A_caller_that_lives_and_has_lost_its_link_does_not_hear_that_it_has_cancelled()
    {
        using var started = new Gate();
        using var cancelled = new Gate();
        await using var silos = await SilosInVirtualTime.Deploy();
        var grain = silos.Grains.GetGrain<IPatient>(Guid.NewGuid());
        using var source = new CancellationTokenSource();
        var call = Place.On(silos.AddressOf(1), () => grain.Wait(started.Name, cancelled.Name, source.Token));
        await started.ArrivedAsync();
        silos.NodeOf(1).Sweep.CancelCallsOf(silos.AddressOf(0));
        await cancelled.ArrivedAsync();
        var exception = await Assert.ThrowsAsync<SiloUnavailableException>(() => call.WaitAsync(Gate.Patience));
        Assert.Contains("the link to its caller was lost", exception.Message, StringComparison.Ordinal);
    }

    /// <summary>The seed 5 of the theme items has found it.</summary>
    [Fact]
    public async Task A_consumer_that_lives_and_has_lost_its_link_does_not_hear_that_it_has_cancelled()
    {
        using var begun = new Gate();
        using var ended = new Gate();
        await using var silos = await SilosInVirtualTime.Deploy();
        var feed = silos.Grains.GetGrain<Enumerations.IFeed>(Guid.NewGuid());
        using var source = new CancellationTokenSource();
        await using var items = feed.Silence(begun.Name, ended.Name, source.Token).GetAsyncEnumerator(source.Token);
        var next = Place.On(silos.AddressOf(1), () => items.MoveNextAsync().AsTask());
        await begun.ArrivedAsync();
        silos.NodeOf(1).Sweep.CancelCallsOf(silos.AddressOf(0));
        await ended.ArrivedAsync();
        var exception = await Assert.ThrowsAsync<EnumerationAbortedException>(() => next.WaitAsync(Gate.Patience));
        Assert.Contains("the link to the consumer was lost", exception.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Notes_are_bounded_and_the_newest_are_kept()
    {
        var cancellables = new CancellableCalls();
        for (var ticket = 1ul; ticket <= 2 * CancellableCalls.MaxNotes; ticket++)
            Assert.Equal(CancelStep.Waits, cancellables.Cancel("caller", ticket, 1_000, out _));
        Assert.Equal(CancellableCalls.MaxNotes, cancellables.Notes);
        Assert.Equal(CancelStep.Ended, cancellables.Cancel("caller", 2 * CancellableCalls.MaxNotes, 1_000, out _));
        cancellables.Expire(999);
        Assert.Equal(CancellableCalls.MaxNotes, cancellables.Notes);
        cancellables.Expire(1_000);
        Assert.Equal(0, cancellables.Notes);
    }

    [Fact]
    public void A_cancellation_comes_before_a_request_leaves_or_goes_after_it()
    {
        var next = SiloAddress.New(new System.Net.IPEndPoint(1, 1), 1);
        foreach (var isFirst in new[] { true, false })
        {
            var cancellables = new CancellableCalls();
            var call = NewRequest();
            cancellables.Add(call.Cancellation!);
            if (isFirst)
            {
                Assert.Equal(CancelStep.Ended, cancellables.Cancel("caller", 7, 1_000, out _));
                Assert.False(call.Cancellation!.TryLeave(next, 1_000));
                call.Recycle();
            }
            else
            {
                Assert.True(call.Cancellation!.TryLeave(next, 1_000));
                // The request may come back before the silo has finished with it.
                var again = NewRequest();
                cancellables.Add(again.Cancellation!);
                call.Recycle();
                Assert.True(again.Cancellation!.TryLeave(next, 1_000));
                Assert.Equal(CancelStep.Follows, cancellables.Cancel("caller", 7, 1_000, out var found));
                Assert.Equal(next, found);
                again.Recycle();
            }

            Assert.Equal(0, cancellables.Count);
        }
    }

    [Fact]
    public void A_request_that_arrives_after_its_cancellation_is_cancelled()
    {
        var cancellables = new CancellableCalls();
        Assert.Equal(CancelStep.Waits, cancellables.Cancel("caller", 7, 1_000, out _));
        var call = NewRequest();
        cancellables.Add(call.Cancellation!);
        Assert.True(call.Cancellation!.IsCancelled);
        Assert.Equal((1, 0), (cancellables.Count, cancellables.Notes));
        call.Recycle();
        Assert.Equal(0, cancellables.Count);
    }

    private static OpaqueCall NewRequest() => new(1, null, new InvalidOperationException(), static () => { })
    {
        Remote = "caller",
        ReplyTo = 7,
    };

    /// <summary>The silo reads the frame of the caller's silo as if it came over the link.</summary>
    private static void Cancel(SilosInVirtualTime silos, int silo, GrainId grain)
    {
        var (_, ticket) = silos.NodeOf(0).Calls.Registry.Read().Single(entry => entry.Call.TargetId.Equals(grain));
        Told(silos, silo, grain, (ulong)ticket);
    }

    private static void Told(SilosInVirtualTime silos, int silo, GrainId grain, ulong ticket)
    {
        var node = silos.NodeOf(silo);
        var buffer = new WireBuffer(64);
        var writer = new WireWriter(buffer, new WireSession(silos.NodeOf(0).Calls));
        writer.WriteByte((byte)FrameKind.Cancel);
        writer.WriteByte(0);
        writer.WriteFixed64(ticket);
        Addresses.Write(ref writer, silos.AddressOf(0));
        GrainIdBytes.Write(ref writer, grain);
        writer.WriteVarUInt32(10_000);
        writer.Commit();
        node.Peers.Reader.Read(node.Peers.FindSender(silos.AddressOf(0))!, PeerRole.Member, buffer.Written);
    }

    public interface IHeldPatient : IGrainWithGuidKey
    {
        Task Wait(string started, CancellationToken cancellationToken);
    }

    [GrainDirectory("held")]
    public sealed class HeldPatientGrain : Grain, IHeldPatient
    {
        public Task Wait(string started, CancellationToken cancellationToken) => Patience.WaitAsync(started, "", cancellationToken);
    }

    /// <summary>A directory that answers when a gate is open.</summary>
    private sealed class HeldDirectory : IGrainDirectory
    {
        private readonly ConcurrentDictionary<GrainId, GrainAddress> _entries = new();
        private Gate? _held;

        internal Gate Lookups { get; } = new();

        internal Gate Registrations { get; } = new();

        internal void Hold(Gate gate) => _held = gate;

        public async Task<GrainAddress?> Register(GrainAddress address)
        {
            await Pass(Registrations);
            return _entries.GetOrAdd(address.GrainId, address);
        }

        public async Task<GrainAddress?> Lookup(GrainId grainId)
        {
            await Pass(Lookups);
            return _entries.GetValueOrDefault(grainId);
        }

        public Task Unregister(GrainAddress address)
        {
            _entries.TryRemove(address.GrainId, out _);
            return Task.CompletedTask;
        }

        public Task UnregisterSilos(List<SiloAddress> siloAddresses) => Task.CompletedTask;

        private Task Pass(Gate gate) => ReferenceEquals(_held, gate) ? Gate.PassAsync(gate.Name) : Task.CompletedTask;
    }
}
