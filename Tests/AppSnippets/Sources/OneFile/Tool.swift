import Foundation

print(FileManager.default.currentDirectoryPath)
