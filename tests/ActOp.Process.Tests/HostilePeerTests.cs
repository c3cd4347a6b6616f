using System.Net;
using System.Net.Sockets;
using System.Text;
using ActOp.Process.Silo;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Runtime.Messaging;

namespace ActOp.Process.Tests;

public sealed class HostilePeerTests
{
    [Fact]
    public async Task Whatever_a_stranger_sends_costs_only_its_own_connection()
    {
        await using var cluster = await ProcessCluster.StartAsync(1);
        var silo = cluster.Silos[0];
        var random = new byte[4096];
        new Random(7).NextBytes(random);
        // What is no frame at all must be closed by the silo; half a frame may be the start of a good one, so there the stranger hangs up.
        byte[][] garbage =
        [
            random,
            Encoding.ASCII.GetBytes("GET / HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n"),
            [0xFF, 0xFF, 0xFF, 0x7F, 1, 2, 3, 4],
            [0, 0, 0, 0x80, 1, 2, 3, 4],
        ];
        foreach (var port in new[] { silo.Port, silo.Gateway })
        {
            foreach (var bytes in garbage)
            {
                await Send(port, bytes, waitForEnd: true);
                Assert.Equal(silo.Port, await cluster.Grain(1).Port().AsTask().WaitAsync(Limits.Step));
            }

            await Send(port, [40, 0, 0, 0, 1, 2, 3], waitForEnd: false);
            Assert.Equal(silo.Port, await cluster.Grain(2).Port().AsTask().WaitAsync(Limits.Step));
        }
    }

    [Fact]
    public async Task A_client_of_another_cluster_is_refused_and_harms_nobody()
    {
        await using var cluster = await ProcessCluster.StartAsync(1);
        using var stranger = ProcessCluster.CreateClient("another", [cluster.Silos[0].Gateway]);

        await Assert.ThrowsAsync<ConnectionFailedException>(() => stranger.StartAsync().WaitAsync(Limits.Step));

        Assert.Equal(cluster.Silos[0].Port, await cluster.Grain(1).Port().AsTask().WaitAsync(Limits.Step));
    }

    [Fact]
    public async Task A_silo_that_ran_out_of_descriptors_serves_new_clients_again()
    {
        await using var cluster = await ProcessCluster.StartAsync(1, descriptors: 300);
        var strangers = new Strangers(cluster.Silos[0].Gateway, 400);

        // More than the silo can accept: it says so, unless it pushes strangers out as fast as they come, and serves a client beside them.
        await await Task.WhenAny(cluster.Silos[0].Says("Accepting at"), ServesNewClient(cluster));
        strangers.Dispose();

        await ServesNewClient(cluster);
        await ServesNewClient(cluster);
    }

    [Fact]
    public async Task Strangers_that_say_nothing_keep_no_client_out()
    {
        await using var cluster = await ProcessCluster.StartAsync(1);
        using var strangers = new Strangers(cluster.Silos[0].Gateway, 1500);

        await ServesNewClient(cluster);
    }

    [Fact]
    public async Task A_silo_without_descriptors_for_all_strangers_still_serves_a_client()
    {
        await using var cluster = await ProcessCluster.StartAsync(1, descriptors: 300);
        using var strangers = new Strangers(cluster.Silos[0].Gateway, 400);

        await ServesNewClient(cluster);
    }

    /// <summary>Well within the time that a handshake may take, so that the client had not to wait for others' limits.</summary>
    private static async Task ServesNewClient(ProcessCluster cluster)
    {
        var silo = cluster.Silos[0];
        using var client = ProcessCluster.CreateClient("dev", [silo.Gateway]);
        try
        {
            await client.StartAsync().WaitAsync(Limits.Step);
            var grain = client.Services.GetRequiredService<IClusterClient>().GetGrain<IPlaceGrain>(1);
            Assert.Equal(silo.Port, await grain.Port().AsTask().WaitAsync(Limits.Step));
        }
        catch (Exception exception)
        {
            throw new InvalidOperationException("No new client was served. The silo said: " + silo.Output, exception);
        }

        await client.StopAsync();
    }

    /// <summary>Connections that say nothing.</summary>
    private sealed class Strangers : IDisposable
    {
        private readonly List<Socket> _sockets = [];

        public Strangers(int port, int count)
        {
            for (var i = 0; i < count; i++)
            {
                var socket = new Socket(SocketType.Stream, ProtocolType.Tcp) { Blocking = false };
                _sockets.Add(socket);
                try
                {
                    socket.Connect(new IPEndPoint(IPAddress.Loopback, port));
                }
                catch (SocketException exception) when (exception.SocketErrorCode == SocketError.WouldBlock)
                {
                    // Under way: it waits to be accepted.
                }
            }
        }

        public void Dispose() => _sockets.ForEach(socket => socket.Dispose());
    }

    private static async Task Send(int port, byte[] bytes, bool waitForEnd)
    {
        using var socket = new Socket(SocketType.Stream, ProtocolType.Tcp);
        await socket.ConnectAsync(new IPEndPoint(IPAddress.Loopback, port));
        await socket.SendAsync(bytes);
        if (!waitForEnd)
            return;
        var buffer = new byte[4096];
        try
        {
            while (await socket.ReceiveAsync(buffer).WaitAsync(Limits.Step) > 0)
            {
            }
        }
        catch (SocketException)
        {
            // Reset: closed as well.
        }
    }
}
