using System.CommandLine;
using System.Net;
using ActOp.Floors;
using ActOp.Harness.Processes;
using ActOp.Harness.Reports;
using ActOp.Peers;
using ActOp.Peers.Shapes;

if (args is [SocketFloor.ServerCommand, var size])
{
    EchoServer.Run(int.Parse(size, System.Globalization.CultureInfo.InvariantCulture));
    return 0;
}

Argument<string[]> shapes = new("shapes") { Description = "Shapes, or all.", DefaultValueFactory = static _ => ["all"] };
Option<string> runtimes = new("--runtimes")
{
    Description = "Runtimes, with commas.",
    DefaultValueFactory = static _ => string.Join(',', PeerKind.All.Select(static kind => kind.Name)),
};
Option<int> rounds = new("--rounds") { Description = "Rounds, each with all shapes and runtimes.", DefaultValueFactory = static _ => 3 };
Option<int> milliseconds = new("--milliseconds") { Description = "Length of a measurement.", DefaultValueFactory = static _ => 1000 };
Option<double> minutes = new("--minutes")
{
    Description = "After these minutes nothing more begins. With the default, all ends within 25 minutes, building included.",
    DefaultValueFactory = static _ => 22,
};
Option<bool> isShort = new("--short") { Description = "One round of very little, to see that everything works." };
Option<string?> pin = new("--pin") { Description = "Processors for the runtimes, as taskset -c takes them, for instance 0-15." };
Option<string?> append = new("--append") { Description = "Adds the results to a file that may have those of other machines." };
Option<string?> ports = new("--ports") { Description = "The ports that silos and clients may use, for instance 20000-20100." };
Option<string?> role = new("--role")
{
    Description = "'silo': this machine starts silos for plays on another one. 'client': the silos are on --hosts, the load is here.",
};
Option<string?> hosts = new("--hosts")
{
    Description = "With the role 'silo' the address of this machine and a port. With 'client' those of the others, with commas.",
};
Option<bool> noBuild = new("--no-build") { Description = "Uses the programs of the runtimes as they are." };
Command run = new("run", "Plays shapes on the runtimes in turn and prints a table.")
{
    shapes, runtimes, rounds, milliseconds, minutes, isShort, pin, append, noBuild, ports, role, hosts,
};
var output = new OutputOptions(run, "peers.json", "peers.html");
run.SetAction(async (parsed, cancellation) =>
{
    var chosen = parsed.GetValue(shapes) is ["all"] ? Shape.All : [.. parsed.GetValue(shapes)!.Select(Shape.Find).OfType<Shape>()];
    var names = parsed.GetValue(runtimes)!.Split(',', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries);
    var unknown = names.Except(PeerKind.All.Select(static kind => kind.Name))
        .Concat(parsed.GetValue(shapes)!.Where(static name => name != "all" && Shape.Find(name) is null)).ToList();
    if (unknown.Count > 0)
    {
        Console.Error.WriteLine("Unknown: " + string.Join(", ", unknown) + ". 'list' shows what there is.");
        return 2;
    }

    var places = Places(parsed.GetValue(role), parsed.GetValue(hosts), out var wrong);
    if (wrong is not null)
    {
        Console.Error.WriteLine(wrong);
        return 2;
    }

    if (parsed.GetValue(role) == "client")
        chosen = [.. chosen.Where(static shape => shape.IsApart)];
    IReadOnlyList<PeerKind> kinds = [.. PeerKind.All.Where(kind => names.Contains(kind.Name))];
    kinds = parsed.GetValue(noBuild) ? PeerKind.FindBuilt(kinds) : await PeerKind.BuildAsync(kinds);
    if (parsed.GetValue(role) == "silo")
        return await SilosAsync(places[0], parsed.GetValue(ports), kinds, parsed.GetValue(pin), cancellation);
    var little = parsed.GetValue(isShort);
    var results = await new PeerRun(new PeerSettings(
        chosen, kinds, little ? 1 : parsed.GetValue(rounds), little ? 100 : parsed.GetValue(milliseconds), little,
        TimeSpan.FromMinutes(parsed.GetValue(minutes)), parsed.GetValue(pin), parsed.GetValue(ports), places)).PlayAsync(cancellation);
    results.Print();
    output.Write(parsed, results, () => PeerPage.Render([results]));
    if (parsed.GetValue(append) is { } file)
        PeerResults.Write(file, [.. PeerResults.Read(file), results]);
    return results.Failures.Exists(static one => one.Runtime == PeerKind.Ours
        && !one.Why.StartsWith(PeerRun.NotAvailable, StringComparison.Ordinal)) ? 1 : 0;
});
Argument<string> results = new("file") { Description = "A file of --append." };
Option<string?> html = new("--html") { Description = "File for the page with charts." };
Command show = new("show", "Prints the tables of a file of --append.") { results, html };
show.SetAction(parsed =>
{
    var all = PeerResults.Read(parsed.GetValue(results)!);
    all.ForEach(static one => one.Print());
    if (parsed.GetValue(html) is { } page)
        ReportFile.Write(page, PeerPage.Render(all));
});
Command list = new("list", "Lists the shapes and the runtimes.");
list.SetAction(static _ =>
{
    TextTable.Print(["shape", "what"], Shape.All.Select(static shape => (IReadOnlyList<string>)[shape.Name, shape.What]));
    TextTable.Print(
        ["runtime", "program"], PeerKind.All.Select(static kind => (IReadOnlyList<string>)[kind.Name, "bench/" + kind.Project]));
});
return await new RootCommand("ActOp beside its peers, by one command: each runtime in processes of its own, in turn.") { run, list, show }
    .Parse(args).InvokeAsync();

static string[] Places(string? role, string? hosts, out string? wrong)
{
    var places = hosts?.Split(',', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries) ?? [];
    wrong = role is not (null or "silo" or "client") ? "The role is silo or client."
        : role is null != (places.Length == 0) ? "--role and --hosts belong together."
        : Array.Find(places, static place => !IPEndPoint.TryParse(place, out var at) || at.Port == 0) is { } bad
            ? bad + " is no address with a port, like 10.0.0.1:20000."
        : role == "silo" && places.Length > 1 ? "A machine that starts silos has one address." : null;
    return places;
}

static async Task<int> SilosAsync(
    string place, string? ports, IReadOnlyList<PeerKind> kinds, string? pin, CancellationToken cancellation)
{
    if (ports is not null)
        Ports.Restrict(ports);
    var at = IPEndPoint.Parse(place);
    var names = string.Join(", ", kinds.Select(static kind => kind.Name));
    Console.WriteLine("Starts silos at " + at + " for whoever asks, until it is ended: " + names);
    var server = new SiloServer(at.Address, name => kinds.FirstOrDefault(kind => kind.Name == name) is { } kind
        ? [.. pin is null ? (string[])[] : ["taskset", "-c", pin], .. ChildProcess.CommandOf(kind.Assembly)] : null);
    await server.RunAsync(at.Port, cancellation);
    return 0;
}
