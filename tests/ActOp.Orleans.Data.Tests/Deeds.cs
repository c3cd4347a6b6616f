using System.Globalization;
using System.Net;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Orleans;
using Orleans.Configuration;
using Orleans.Hosting;
using Orleans.Storage;

namespace ActOp.Orleans.Data.Tests;

/// <summary>A silo on a database, and what is done with its grains. Compiled for both runtimes.</summary>
/// <remarks>A deed is a line: the name of a method, the number of a grain, and the rest.</remarks>
public static class Deeds
{
    public static readonly TimeSpan Limit = TimeSpan.FromSeconds(30);

    /// <summary>Numbers of the grains: keys of each kind, and some that look like another kind.</summary>
    public static int Grains => 14;

    /// <summary>A silo with two storages and reminders, as an application writes it.</summary>
    public static async Task<IHost> StartAsync(string connectionString, int port, int gateway, Action<ISiloBuilder> configure)
    {
        var builder = new HostApplicationBuilder(new HostApplicationBuilderSettings { DisableDefaults = true });
        builder.Logging.SetMinimumLevel(LogLevel.Critical).AddSimpleConsole(static console => console.SingleLine = true);
        builder.UseOrleans(silo =>
        {
            silo.UseLocalhostClustering(port, gateway);
            silo.Configure<ClusterOptions>(static options => options.ServiceId = "shop");
            silo.AddAdoNetGrainStorage("json", options =>
            {
                options.Invariant = "Npgsql";
                options.ConnectionString = connectionString;
            });
            silo.AddAdoNetGrainStorage("packed", options =>
            {
                options.Invariant = "Npgsql";
                options.ConnectionString = connectionString;
                options.DeleteStateOnClear = true;
                options.GrainStorageSerializer = new PackedSerializer();
            });
            silo.UseAdoNetReminderService(options =>
            {
                options.Invariant = "Npgsql";
                options.ConnectionString = connectionString;
            });
            silo.Configure<ReminderOptions>(static options => options.MinimumReminderPeriod = TimeSpan.FromMilliseconds(1));
            configure(silo);
        });
        var host = builder.Build();
        await host.StartAsync().WaitAsync(Limit);
        return host;
    }

    /// <summary>Does a deed, and returns what it returns, in one line.</summary>
    public static async Task<string> DoAsync(IHost host, string deed)
    {
        var words = deed.Split(' ', 3);
        var grain = Grain(host.Services.GetRequiredService<IGrainFactory>(), int.Parse(words[1], CultureInfo.InvariantCulture));
        var rest = words.Length > 2 ? words[2] : "";
        try
        {
            return words[0] switch
            {
                "write" => await grain.Write(rest).WaitAsync(Limit),
                "read" => await grain.Read().WaitAsync(Limit),
                "clear" => await grain.Clear().WaitAsync(Limit),
                "remind" => await DoneAsync(grain.Remind(rest, TimeSpan.FromHours(1.5), TimeSpan.FromHours(2))),
                "wake" => await DoneAsync(grain.Remind(rest, TimeSpan.FromMilliseconds(50), TimeSpan.FromSeconds(2))),
                "forget" => await DoneAsync(grain.Forget(rest)),
                "reminders" => await grain.Reminders().WaitAsync(Limit),
                "reminded" => await grain.Reminded().WaitAsync(Limit),
                _ => throw new ArgumentException("No deed: " + deed, nameof(deed)),
            };
        }
        catch (Exception exception) when (exception is not ArgumentException)
        {
            return exception.GetType().FullName + ": " + exception.Message.ReplaceLineEndings(" ");
        }
    }

    private static async Task<string> DoneAsync(Task task)
    {
        await task.WaitAsync(Limit);
        return "done";
    }

    private static IKeeper Grain(IGrainFactory grains, int number)
    {
        var guid = new Guid("fedcba98-7654-3210-fedc-ba9876543210");
        return number switch
        {
            0 => grains.GetGrain<INumberKeeper>(0),
            1 => grains.GetGrain<INumberKeeper>(-1),
            2 => grains.GetGrain<INumberKeeper>(long.MinValue),
            3 => grains.GetGrain<IGuidKeeper>(guid),
            4 => grains.GetGrain<IGuidKeeper>(Guid.Empty),
            5 => grains.GetGrain<ITextKeeper>("Grüße, 世界 / + \\ ' \" %20"),
            6 => grains.GetGrain<ITextKeeper>("long " + new string('x', 110)),
            // Counts as a number, and has the row of number 0xabc.
            7 => grains.GetGrain<ITextKeeper>("0000000000000000000abc"),
            8 => grains.GetGrain<ITextKeeper>("0123456789abcdef0123456789abcdef"),
            9 => grains.GetGrain<ITextKeeper>("12+text"),
            10 => grains.GetGrain<INumberAndTextKeeper>(12, "ä+b"),
            11 => grains.GetGrain<INumberAndTextKeeper>(13, "x"),
            12 => grains.GetGrain<IGuidAndTextKeeper>(guid, "order/7"),
            _ => grains.GetGrain<IGuidAndTextKeeper>(guid, "order/8"),
        };
    }
}

/// <summary>The serializer of an application: bytes that are no text.</summary>
internal sealed class PackedSerializer : IGrainStorageSerializer
{
    public BinaryData Serialize<T>(T? input)
    {
        var state = (Packed)(object)input!;
        return new BinaryData((byte[])[0xFF, 0, .. BitConverter.GetBytes(state.Count), .. System.Text.Encoding.UTF32.GetBytes(state.Text)]);
    }

    public T? Deserialize<T>(BinaryData input)
    {
        var bytes = input.ToMemory().Span;
        return (T)(object)new Packed { Count = BitConverter.ToInt32(bytes[2..6]), Text = System.Text.Encoding.UTF32.GetString(bytes[6..]) };
    }
}
