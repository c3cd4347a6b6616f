using ActOp.Configuration;
using ActOp.Storage.Files;
using ActOp.TestClusters;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Options;
using Orleans.Serialization;
using Orleans.Storage;

namespace ActOp.State.Tests;

/// <summary>Storage in files on the real disk.</summary>
public sealed class FileGrainStorageTests : IDisposable
{
    private static readonly GrainId Grain = GrainId.Create("account", "one");

    private readonly string _root = Directory.CreateTempSubdirectory("states").FullName;

    public void Dispose() => Directory.Delete(_root, recursive: true);

    [Fact]
    public async Task States_are_there_after_a_restart_of_all_silos()
    {
        for (var run = 1; run <= 2; run++)
        {
            await using var cluster = await TestSilos.StartAsync(
                2, silo => silo.AddFileGrainStorageAsDefault(options => options.RootDirectory = _root));
            var grains = Enumerable.Range(0, 20).Select(i => cluster.Client.GetGrain<IDefaultLedger>("A/b " + i)).ToArray();
            Assert.All(await Task.WhenAll(grains.Select(grain => grain.Add(5))), total => Assert.Equal(5 * run, total));
        }

        Assert.Equal(20, Directory.EnumerateFiles(_root, "defaultledger.*", SearchOption.AllDirectories).Count());
    }

    [Fact]
    public async Task Two_storages_over_one_directory_never_write_one_ETag_twice()
    {
        using var one = await Started();
        using var other = await Started();
        var state = new GrainState<Account>(new Account());
        await one.WriteStateAsync("s", Grain, state);
        var writers = Enumerable.Range(0, 16).Select(async number =>
        {
            var mine = new GrainState<Account>(new Account { Balance = number }, state.ETag);
            try
            {
                await (number % 2 == 0 ? one : other).WriteStateAsync("s", Grain, mine);
                return mine.ETag;
            }
            catch (InconsistentStateException)
            {
                return null;
            }
        });
        var winner = Assert.Single(await Task.WhenAll(writers), static etag => etag is not null);
        await other.ReadStateAsync("s", Grain, state);
        Assert.Equal((winner, true), (state.ETag, state.RecordExists));
        await one.ClearStateAsync("s", Grain, state);
        Assert.Equal((null, false, 0), (state.ETag, state.RecordExists, state.State!.Balance));
        // An ETag of a record that was cleared fits no later one.
        await one.WriteStateAsync("s", Grain, state);
        await Assert.ThrowsAsync<InconsistentStateException>(
            () => other.WriteStateAsync("s", Grain, new GrainState<Account>(new Account(), winner)));
    }

    [Fact]
    public async Task A_damaged_file_fails_the_activation_and_is_left_as_it_is()
    {
        using var storage = await Started();
        var state = new GrainState<Account>(new Account());
        await storage.WriteStateAsync("s", Grain, state);
        var path = Directory.EnumerateFiles(storage.Root, "account.*", SearchOption.AllDirectories).Single();
        var bytes = await File.ReadAllBytesAsync(path);
        await File.WriteAllBytesAsync(path, bytes[..^1]);
        var error = await Assert.ThrowsAsync<InvalidDataException>(() => storage.ReadStateAsync("s", Grain, state));
        Assert.Contains(path, error.Message, StringComparison.Ordinal);
        await Assert.ThrowsAsync<InvalidDataException>(() => storage.WriteStateAsync("s", Grain, state));
        await Assert.ThrowsAsync<InvalidDataException>(() => storage.ClearStateAsync("s", Grain, state));
        Assert.Equal(bytes[..^1], await File.ReadAllBytesAsync(path));
    }

    [Fact]
    public async Task Only_the_account_of_the_silo_reads_the_files()
    {
        if (OperatingSystem.IsWindows())
            return;
        using var storage = await Started(new FakeClock());
        await storage.WriteStateAsync("s", Grain, new GrainState<Account>(new Account()));
        var folder = Path.Combine(storage.Root, StateFile.NameOf("s", Grain).Folder);
        Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute, File.GetUnixFileMode(folder));
        foreach (var file in Directory.GetFiles(folder))
            Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite, File.GetUnixFileMode(file));
    }

    [Fact]
    public async Task A_folder_that_another_process_holds_is_waited_for_within_the_limit()
    {
        var clock = new FakeClock();
        using var storage = await Started(clock);
        var state = new GrainState<Account>(new Account());
        await storage.WriteStateAsync("s", Grain, state);
        var folder = Path.Combine(storage.Root, StateFile.NameOf("s", Grain).Folder);
        Task write;
        using (RealDisk.Instance.TryLock(Path.Combine(folder, "lock")))
        {
            Assert.Null(RealDisk.Instance.TryLock(Path.Combine(folder, "lock")));
            write = storage.WriteStateAsync("s", Grain, state);
            await TestingUtils.WaitUntilAsync(
                _ =>
                {
                    clock.Advance(TimeSpan.FromMilliseconds(100));
                    return Task.FromResult(write.IsCompleted);
                },
                Gate.Patience,
                TimeSpan.FromMilliseconds(1));
        }

        var error = await Assert.ThrowsAsync<IOException>(() => write);
        Assert.Contains(nameof(FileGrainStorageOptions.LockTimeout), error.Message, StringComparison.Ordinal);
        await storage.WriteStateAsync("s", Grain, state);
    }

    [Fact]
    public async Task Operations_beyond_the_limit_are_refused_and_cancelled_ones_do_not_run()
    {
        using var storage = await Started(configure: static options => options.MaxWaiting = 1);
        var state = new GrainState<Account>(new Account());
        await Assert.ThrowsAsync<TaskCanceledException>(
            () => storage.WriteStateAsync("s", Grain, state, new CancellationToken(canceled: true)));
        Assert.False(state.RecordExists);
        var both = Task.WhenAll(
            Enumerable.Range(0, 200).Select(
                i => storage.ReadStateAsync("s", GrainId.Create("a", i.ToString()), new GrainState<Account>())));
        await Assert.ThrowsAsync<LimitExceededException>(() => both);
        await storage.WriteStateAsync("s", Grain, state);
    }

    [Fact]
    public async Task A_directory_that_cannot_be_used_fails_the_start_and_is_named_with_its_option()
    {
        var file = Path.Combine(_root, "file");
        await File.WriteAllTextAsync(file, "");
        var error = await Assert.ThrowsAsync<OrleansConfigurationException>(
            () => Started(configure: options => options.RootDirectory = file));
        Assert.Contains(nameof(FileGrainStorageOptions.RootDirectory), error.Message, StringComparison.Ordinal);
        Assert.Contains(file, error.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(nameof(FileGrainStorageOptions.Threads))]
    [InlineData(nameof(FileGrainStorageOptions.MaxWaiting))]
    [InlineData(nameof(FileGrainStorageOptions.LockTimeout))]
    [InlineData(nameof(FileGrainStorageOptions.RootDirectory))]
    public async Task Options_without_sense_are_refused_by_name(string option)
    {
        var error = await Assert.ThrowsAsync<OrleansConfigurationException>(() => Started(configure: options =>
        {
            switch (option)
            {
                case nameof(FileGrainStorageOptions.Threads):
                    options.Threads = 0;
                    break;
                case nameof(FileGrainStorageOptions.MaxWaiting):
                    options.MaxWaiting = 0;
                    break;
                case nameof(FileGrainStorageOptions.LockTimeout):
                    options.LockTimeout = TimeSpan.FromSeconds(-1);
                    break;
                default:
                    options.RootDirectory = " ";
                    break;
            }
        }));
        Assert.Contains(option, error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_storage_that_was_stopped_refuses_what_comes_later()
    {
        using var storage = await Started();
        await storage.StopAsync();
        var error = await Assert.ThrowsAsync<OrleansException>(() => storage.ReadStateAsync("s", Grain, new GrainState<Account>()));
        Assert.Contains("files", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task An_operation_that_comes_while_the_storage_ends_is_refused_and_does_not_wait_for_ever()
    {
        using var storage = await Started();
        var stage = storage.Stage!;
        await storage.StopAsync();
        var late = storage.RunOnAsync(stage, static () => 1, CancellationToken.None);
        await Assert.ThrowsAsync<OrleansException>(() => late.WaitAsync(Gate.Patience));
    }

    [Fact]
    public async Task The_chosen_serializer_writes_the_files()
    {
        var json = new SystemTextJsonGrainStorageSerializer(Options.Create(new SystemTextJsonGrainStorageSerializerOptions()));
        using var storage = await Started();
        await storage.WriteStateAsync("s", Grain, new GrainState<Account>(new Account { Balance = 321 }));
        var text = await File.ReadAllTextAsync(
            Directory.EnumerateFiles(storage.Root, "account.*", SearchOption.AllDirectories).Single());
        Assert.Contains(json.Serialize(new Account { Balance = 321 }).ToString(), text, StringComparison.Ordinal);
    }

    private async Task<FileGrainStorage> Started(TimeProvider? time = null, Action<FileGrainStorageOptions>? configure = null)
    {
        var options = new FileGrainStorageOptions
        {
            RootDirectory = _root,
            GrainStorageSerializer = new SystemTextJsonGrainStorageSerializer(
                Options.Create(new SystemTextJsonGrainStorageSerializerOptions())),
        };
        configure?.Invoke(options);
        var storage = new FileGrainStorage("files", options, time ?? TimeProvider.System, NullLoggerFactory.Instance);
        await storage.StartAsync();
        return storage;
    }
}
