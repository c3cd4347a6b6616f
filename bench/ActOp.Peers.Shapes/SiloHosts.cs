using System.Globalization;
using System.Net;
using System.Net.Sockets;
using ActOp.Harness.Processes;

namespace ActOp.Peers.Shapes;

/// <summary>What a play asks of another machine, a line of JSON.</summary>
/// <param name="Verb">"start", "cpu" or "kill".</param>
/// <param name="Silo">The number of a silo of this connection, from 0.</param>
/// <param name="Variant">The runtime of a silo that starts.</param>
/// <param name="PrimaryHost">The address of the first silo; null if it is to be the first.</param>
/// <param name="Primary">The port of the first silo.</param>
/// <param name="Moves">Whether grains may move.</param>
public sealed record SiloOrder(
    string Verb, int Silo, string? Variant = null, string? PrimaryHost = null, int Primary = 0, bool Moves = false);

/// <summary>The answer, a line of JSON.</summary>
/// <param name="Error">Why there is none, or null.</param>
/// <param name="Port">Where a silo listens that has started.</param>
/// <param name="Gateway">Where it listens for clients.</param>
/// <param name="CpuMilliseconds">Processor time of a silo.</param>
public sealed record SiloAnswer(string? Error, int Port = 0, int Gateway = 0, double CpuMilliseconds = 0);

/// <summary>
/// Starts silos of the runtimes on this machine for plays on another one. Whoever reaches its port can start and end silos, and nothing
/// else: it is for machines that are being measured, in a network of their own.
/// </summary>
/// <remarks>One connection for each play; its silos end with it.</remarks>
/// <param name="address">The address of this machine.</param>
/// <param name="programOf">The command of the program of a runtime; null for one that is not there.</param>
public sealed class SiloServer(IPAddress address, Func<string, string[]?> programOf)
{
    /// <summary>Serves until it is cancelled.</summary>
    public async Task RunAsync(int port, CancellationToken cancellation)
    {
        using var listener = new TcpListener(address, port);
        listener.Start();
        try
        {
            // One play at a time: two would measure each other.
            while (true)
            {
                using var client = await listener.AcceptTcpClientAsync(cancellation);
                await ServeAsync(client, cancellation);
            }
        }
        catch (OperationCanceledException)
        {
            // The machine is not needed any more.
        }
    }

    private async Task ServeAsync(TcpClient client, CancellationToken cancellation)
    {
        var silos = new List<LocalSilo>();
        try
        {
            using var reader = new StreamReader(client.GetStream());
            await using var writer = new StreamWriter(client.GetStream()) { AutoFlush = true };
            while (await reader.ReadLineAsync(cancellation) is { } line)
            {
                var answer = JsonLines.TryRead<SiloOrder>(line, out var order)
                    ? await AnswerAsync(order!, silos) : new SiloAnswer("That is no order.");
                JsonLines.Write(writer, answer);
            }
        }
        catch (IOException)
        {
            // The play has ended, or its machine is gone.
        }
        finally
        {
            silos.ForEach(static silo => silo.Kill());
            foreach (var silo in silos)
                await silo.DisposeAsync();
        }
    }

    private async Task<SiloAnswer> AnswerAsync(SiloOrder order, List<LocalSilo> silos)
    {
        try
        {
            switch (order.Verb)
            {
                case "start" when programOf(order.Variant ?? "") is { } program:
                    var host = address.ToString();
                    var ports = PeerPorts.FindFree(order.PrimaryHost is null ? null : order.Primary, order.Moves) with
                    {
                        Host = host,
                        PrimaryHost = order.PrimaryHost is { } first ? IPAddress.Parse(first).ToString() : host,
                    };
                    silos.Add(await LocalSilo.StartAsync(program, order.Variant!, ports));
                    return new SiloAnswer(null, ports.Port, ports.Gateway);
                case "cpu" when order.Silo >= 0 && order.Silo < silos.Count:
                    return new SiloAnswer(null, CpuMilliseconds: silos[order.Silo].Cpu.TotalMilliseconds);
                case "kill" when order.Silo >= 0 && order.Silo < silos.Count:
                    silos[order.Silo].Kill();
                    return new SiloAnswer(null);
                default:
                    return new SiloAnswer("There is no such silo or runtime here: " + order.Verb + " " + order.Variant);
            }
        }
        catch (Exception exception)
        {
            return new SiloAnswer(exception.Message);
        }
    }
}

/// <summary>The connection of a play to a <see cref="SiloServer"/>.</summary>
internal sealed class SiloHost : IDisposable
{
    private readonly TcpClient _client;
    private readonly StreamReader _reader;
    private readonly StreamWriter _writer;
    private readonly string _host;
    private readonly Lock _gate = new();
    private int _silos;

    private SiloHost(TcpClient client, string host)
    {
        (_client, _host) = (client, host);
        // A silo may take a minute to start.
        client.ReceiveTimeout = 90_000;
        _reader = new StreamReader(client.GetStream());
        _writer = new StreamWriter(client.GetStream()) { AutoFlush = true };
    }

    /// <param name="host">Address and port.</param>
    internal static async Task<SiloHost> ConnectAsync(string host)
    {
        var at = IPEndPoint.Parse(host);
        var client = new TcpClient();
        try
        {
            await client.ConnectAsync(at);
            return new SiloHost(client, at.Address.ToString());
        }
        catch
        {
            client.Dispose();
            throw;
        }
    }

    internal async Task<(PeerPorts Ports, ISiloProcess Process)> StartAsync(string variant, PeerPorts? primary, bool moves)
    {
        var answer = await Task.Run(() => Ask(new SiloOrder("start", 0, variant, primary?.Host, primary?.Port ?? 0, moves)));
        var ports = new PeerPorts(answer.Port, answer.Gateway, primary?.Port ?? answer.Port, moves)
        {
            Host = _host,
            PrimaryHost = primary?.Host ?? _host,
        };
        return (ports, new RemoteSilo(this, _silos++));
    }

    public void Dispose() => _client.Dispose();

    private SiloAnswer Ask(SiloOrder order)
    {
        lock (_gate)
        {
            JsonLines.Write(_writer, order);
            var line = _reader.ReadLine() ?? throw new IOException(_host + " has ended the connection.");
            if (!JsonLines.TryRead<SiloAnswer>(line, out var answer))
                throw new IOException(string.Create(CultureInfo.InvariantCulture, $"{_host} has answered: {line}"));
            return answer!.Error is { } error ? throw new InvalidOperationException(_host + ": " + error) : answer;
        }
    }

    private sealed class RemoteSilo(SiloHost host, int number) : ISiloProcess
    {
        public TimeSpan Cpu => TimeSpan.FromMilliseconds(host.Ask(new SiloOrder("cpu", number)).CpuMilliseconds);

        public TimeSpan CompilationCpu => TimeSpan.Zero;

        public void Kill() => host.Ask(new SiloOrder("kill", number));

        public ValueTask DisposeAsync() => default;
    }
}
